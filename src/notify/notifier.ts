import { setImmediate as nextTurn } from 'node:timers/promises';
import { Fault } from '../base/fault.ts';
import type { Delivery } from '../store/documents.ts';
import { announce } from './announce.ts';
import type { NotifyContext } from './context.ts';
import { createLanes, mostAtOnce } from './lanes.ts';
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
  const lanes = createLanes();
  const underWay = new Set<Promise<void>>();
  const stopping = new AbortController();
  let forgottenAt = 0;
  let away = false;

  const send = async (delivery: Delivery, receiver: string) => {
    const { id, take } = delivery;
    const begun = clock.now();
    let well = false;
    try {
      const end = await attempt(context, delivery, stopping.signal);
      well = end.state === 'delivered';
      await store.endAttempt(id, take, end);
      const told = { deliveryId: id, type: delivery.type, jobId: delivery.jobId, channel: delivery.channel };
      const line = { ...told, state: end.state, ...(well ? {} : { error: end.error }) };
      log[end.state === 'failed' ? 'warn' : 'info'](line, 'message tried');
    } catch (error) {
      // The store is away: its lease ends, and whoever sees it then tries again.
      if (!stopping.signal.aborted)
        log.warn({ deliveryId: id, err: error }, 'message was not tried to its end');
      else await store.postponeDelivery(id, take, clock.now()).catch(() => {});
    } finally {
      lanes.leave(receiver, clock.now(), clock.now() - begun, well);
    }
  };

  const begin = async (delivery: Delivery) => {
    const receiver = receiverOf(delivery);
    const now = clock.now();
    const wait = lanes.enter(receiver, now);
    if (wait > 0) {
      await store.postponeDelivery(delivery.id, delivery.take, now + wait);
      return;
    }
    const sending = send(delivery, receiver).finally(() => underWay.delete(sending));
    underWay.add(sending);
  };

  const sendDue = async (signal: AbortSignal) => {
    while (!signal.aborted) {
      const limit = Math.min(takenAtOnce, mostAtOnce - lanes.running());
      const now = clock.now();
      const taken = await store.takeDeliveries(now, now + leaseMs, limit);
      for (const delivery of taken) await begin(delivery);
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

  const idle = async () => {
    while (underWay.size > 0) await Promise.all(underWay);
  };

  return {
    round: () => lookAround(stopping.signal),
    idle,
    async run(signal) {
      while (!signal.aborted) {
        await lookAround(signal);
        await clock.sleep(roundMs, signal).catch(() => {});
      }
      const late = new AbortController();
      await Promise.race([idle(), clock.sleep(graceMs, late.signal).catch(() => {})]);
      late.abort();
      stopping.abort(new Error('the service is stopping'));
      await idle();
    },
  };
}
