import { setImmediate as nextTurn } from 'node:timers/promises';
import { Fault } from '../base/fault.ts';
import type { Delivery } from '../store/documents.ts';
import { announce } from './announce.ts';
import type { NotifyContext } from './context.ts';
import { createLanes, mostHeld } from './lanes.ts';
import { attempt, receiverOf } from './send.ts';

/** How often it is looked for messages. */
const roundMs = 1_000;
/** How long a process has a delivery for itself: longer than any try takes. */
const leaseMs = 120_000;
/** Deliveries taken at once. */
const takenAtOnce = 100;
/** How long deliveries are kept. */
export const keptMs = 30 * 24 * 3_600_000;
const forgetEveryMs = 3_600_000;
/** How long a message that is under way may go on when the process stops. */
const graceMs = 1_500;

/** Tells people: makes the messages that are due, and sends them. */
export interface Notifier {
  /** One look around: makes what is due and begins to send it. A fault of the store is logged. */
  round(): Promise<void>;
  /** Resolves when nothing is under way. */
  idle(): Promise<void>;
  /** Looks around until the signal is aborted, then gives back what is under way. */
  run(signal: AbortSignal): Promise<void>;
}

/** Makes the notifier of a process; any number of them may share a store. */
export function createNotifier(context: NotifyContext): Notifier {
  const { store, clock, log } = context;
  const lanes = createLanes(clock);
  const stopping = new AbortController();
  let forgottenAt = 0;
  let away = false;

  /** Tries a delivery; false where its receiver did not take it, or nobody knows. */
  const send = async (delivery: Delivery): Promise<boolean> => {
    const { id, take, type, jobId, channel } = delivery;
    try {
      const end = await attempt(context, delivery, stopping.signal);
      await store.endAttempt(id, take, end);
      const line = { deliveryId: id, type, jobId, channel, state: end.state };
      if (end.state === 'delivered') log.info(line, 'message delivered');
      else log.warn({ ...line, error: end.error }, 'message not delivered');
      return end.state === 'delivered';
    } catch (error) {
      if (stopping.signal.aborted) await putOff(delivery, 0);
      // The store is away: its lease ends, and whoever sees it then tries again.
      else log.warn({ deliveryId: id, err: error }, 'message was not tried to its end');
      return false;
    }
  };

  const putOff = async ({ id, take }: Delivery, ms: number) => {
    // Where that fails, the end of its lease does the same.
    await store.postponeDelivery(id, take, clock.now() + ms).catch(() => {});
  };

  const sendDue = async (signal: AbortSignal) => {
    while (!signal.aborted) {
      const limit = Math.min(takenAtOnce, mostHeld - lanes.held());
      const now = clock.now();
      const taken = await store.takeDeliveries(now, now + leaseMs, limit);
      for (const delivery of taken) {
        await lanes.add(receiverOf(delivery), {
          run: () => send(delivery),
          putOff: (ms) => putOff(delivery, ms),
        });
      }
      if (taken.length < limit || limit === 0) return;
      await nextTurn();
    }
  };

  const lookAround = async (signal: AbortSignal) => {
    try {
      await announce(context, signal);
      await sendDue(signal);
      if (clock.now() - forgottenAt >= forgetEveryMs) {
        await store.forgetDeliveries(clock.now() - keptMs);
        forgottenAt = clock.now();
      }
      away = false;
    } catch (error) {
      const fault = Fault.from(error);
      if (fault.code !== 'unavailable') log.error({ err: error }, 'messages could not be looked for');
      else if (!away) log.warn({ error: fault.message }, 'messages wait for the store');
      away = fault.code === 'unavailable';
    }
  };

  return {
    round: () => lookAround(stopping.signal),
    idle: () => lanes.idle(),
    async run(signal) {
      while (!signal.aborted) {
        await lookAround(signal);
        await clock.sleep(roundMs, signal).catch(() => {});
      }
      const late = new AbortController();
      await lanes.clear();
      await Promise.race([lanes.idle(), clock.sleep(graceMs, late.signal).catch(() => {})]);
      late.abort();
      stopping.abort(new Error('the service is stopping'));
      await lanes.idle();
    },
  };
}
