import type { Collections } from '../collections.ts';
import type { DestinationStore } from '../destinations.ts';
import type { DeliveryStore } from '../notices.ts';

/** Creates the store of webhooks and deliveries. */
export function deliveryStore({ webhooks, deliveries }: Collections): DeliveryStore {
  return {
    getWebhook: (userId) => webhooks.get(userId),
    putWebhook: (webhook) => webhooks.put(webhook),

    deleteWebhook: async (userId) => {
      await webhooks.remove({ userId });
    },

    createDelivery: (delivery) => deliveries.insert(delivery),
    claimDeliveries: (now, leaseUntil, limit) => deliveries.claimDue(now, leaseUntil, limit),

    recordAttempt: async (id, take, { target, responseStatus, error, state, nextAttemptAt, endedAt }) => {
      const change = { target, responseStatus, error, state, nextAttemptAt, endedAt };
      return (await deliveries.update({ id, take, state: 'pending' }, change, { attempts: 1 })) !== null;
    },

    postponeDelivery: async (id, take, until) =>
      (await deliveries.update({ id, take, state: 'pending' }, { nextAttemptAt: until })) !== null,

    listDeliveries: (userId, page) => deliveries.list({ userId }, page),

    redeliver: async (id, now, userId) => {
      for (;;) {
        const found = await deliveries.get(id);
        if (found === null || (userId !== undefined && found.userId !== userId)) return null;
        const { attempts, take } = found;
        const again = await deliveries.update(
          { id, attempts, take },
          { state: 'pending', attemptsBefore: attempts, nextAttemptAt: now, endedAt: null },
          { take: 1 },
        );
        // An attempt ended between the two operations: read again.
        if (again !== null) return again;
      }
    },
  };
}

/** Creates the store of destinations. */
export function destinationStore({ destinations }: Collections): DestinationStore {
  return {
    createDestination: (destination) => destinations.insert(destination),
    putDestination: (destination) => destinations.put(destination),
    getDestination: (id) => destinations.get(id),
    listDestinations: (userId) => destinations.find({ userId }),
    deleteDestination: async (id, userId) => (await destinations.remove({ id, userId })) === 1,
    findDestinationsByOtherKey: (secretsKey, limit) =>
      destinations.find({ secretsKey: { not: secretsKey } }, { order: ['secretsKey', 'id'], limit }),
  };
}
