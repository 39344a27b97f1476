import type { NoticeStore } from '../notices.ts';
import { unlessDuplicate } from './duplicates.ts';
import type { MongoEngine } from './engine.ts';
import { visible as visibleJobs } from './jobs.ts';
import { olderThan, readNewest } from './paging.ts';
import { readJob, withId, withUnderscore } from './shapes.ts';

/** Creates the MongoDB implementation of NoticeStore. */
export function noticeStore(engine: MongoEngine): NoticeStore {
  return {
    findJobsWithDueNotice: (now, limit) =>
      engine.run(async ({ jobs }) => {
        if (limit <= 0) return [];
        // $gt: 0 is required for the partial index.
        const due = { noticeAt: { $gt: 0, $lte: now }, state: { $nin: ['writing', 'removing'] as const } };
        return (await jobs.find(due).sort({ noticeAt: 1, _id: 1 }).limit(limit).toArray()).map(readJob);
      }),

    advanceNotice: (jobId, reason, next) =>
      engine.run(async ({ jobs }) => {
        const change = { noticeDue: next?.reason ?? null, noticeAt: next?.at ?? null };
        return (await jobs.updateOne({ _id: jobId, noticeDue: reason }, { $set: change })).matchedCount === 1;
      }),

    decideHold: (jobId, decision, at) =>
      engine.run(async ({ jobs }) => {
        const notice = decision === 'released' ? { noticeDue: 'released' as const, noticeAt: at } : {};
        const found = await jobs.findOneAndUpdate(
          { _id: jobId, 'hold.state': 'held', ...visibleJobs },
          { $set: { 'hold.state': decision, 'hold.decidedAt': at, ...notice } },
          { returnDocument: 'after' },
        );
        return found && readJob(found);
      }),

    getWebhook: (userId) =>
      engine.run(async ({ webhooks }) => {
        const found = await webhooks.findOne({ _id: userId });
        if (found === null) return null;
        const { _id, ...webhook } = found;
        return { userId: _id, ...webhook };
      }),

    putWebhook: ({ userId, ...webhook }) =>
      engine.run(async ({ webhooks }) => {
        const { revision } = webhook;
        if (revision === 1) {
          return (await unlessDuplicate(() => webhooks.insertOne({ _id: userId, ...webhook }))) !== null;
        }
        const which = { _id: userId, revision: revision - 1 };
        return (await webhooks.updateOne(which, { $set: webhook })).matchedCount === 1;
      }),

    deleteWebhook: (userId) =>
      engine.run(async ({ webhooks }) => {
        await webhooks.deleteOne({ _id: userId });
      }),

    createDelivery: (delivery) =>
      engine.run(
        async ({ deliveries }) =>
          (await unlessDuplicate(() => deliveries.insertOne(withUnderscore(delivery)))) !== null,
      ),

    claimDeliveries: (now, leaseUntil, limit) =>
      engine.run(async ({ deliveries }) => {
        if (limit <= 0) return [];
        const due = await deliveries
          .find({ nextAttemptAt: { $gt: 0, $lte: now } }, { projection: { take: 1 } })
          .sort({ nextAttemptAt: 1, _id: 1 })
          .limit(limit)
          .toArray();
        const taken = await Promise.all(
          due.map(({ _id, take }) =>
            deliveries.findOneAndUpdate(
              { _id, take, nextAttemptAt: { $gt: 0, $lte: now } },
              { $set: { nextAttemptAt: leaseUntil }, $inc: { take: 1 } },
              { returnDocument: 'after' },
            ),
          ),
        );
        return taken
          .filter((delivery) => delivery !== null)
          .map(withId)
          .sort((a, b) => a.createdAt - b.createdAt);
      }),

    recordAttempt: (id, take, end) =>
      engine.run(async ({ deliveries }) => {
        const { target, responseStatus, error, state, nextAttemptAt, endedAt } = end;
        const change = { target, responseStatus, error, state, nextAttemptAt, endedAt };
        const which = { _id: id, take, state: 'pending' as const };
        const ended = await deliveries.updateOne(which, { $set: change, $inc: { attempts: 1 } });
        return ended.matchedCount === 1;
      }),

    postponeDelivery: (id, take, until) =>
      engine.run(async ({ deliveries }) => {
        const which = { _id: id, take, state: 'pending' as const };
        return (await deliveries.updateOne(which, { $set: { nextAttemptAt: until } })).matchedCount === 1;
      }),

    listDeliveries: (userId, page) => {
      const own = userId === undefined ? {} : { userId };
      return engine.run(({ deliveries }) =>
        readNewest(deliveries.find({ ...own, ...olderThan(page) }), page, withId),
      );
    },

    redeliver: (id, now, userId) =>
      engine.run(async ({ deliveries }) => {
        const which = { _id: id, ...(userId === undefined ? {} : { userId }) };
        for (;;) {
          const found = await deliveries.findOne(which, { projection: { attempts: 1, take: 1 } });
          if (found === null) return null;
          const { attempts, take } = found;
          const again = await deliveries.findOneAndUpdate(
            { _id: id, attempts, take },
            {
              $set: { state: 'pending', attemptsBefore: attempts, nextAttemptAt: now, endedAt: null },
              $inc: { take: 1 },
            },
            { returnDocument: 'after' },
          );
          // An attempt ended between the two operations: read again.
          if (again !== null) return withId(again);
        }
      }),
  };
}
