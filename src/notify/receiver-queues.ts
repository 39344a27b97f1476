import type { Clock } from '../base/clock.ts';

/** Concurrent deliveries to one receiver over all processes; while it is failing, 1 in each. */
export const maxConcurrency = 4;
/** Maximum deliveries queued for one receiver. */
const maxQueued = 500;
/** Maximum expected time in a receiver's queue. A delivery that would wait longer is postponed. */
const maxQueueMs = 5_000;
/** Maximum deliveries in progress or queued for all receivers of this process. */
export const maxHeld = 1_000;
/** Assumed duration of the first delivery to a receiver. */
const initialDurationMs = 50;
const minPostponeMs = 1_000;
const maxPostponeMs = 10 * 60_000;

/** A delivery attempt to schedule. */
export interface DeliveryTask {
  /** Sends the message. Resolves with true if the receiver accepted it; never rejects. */
  run(): Promise<boolean>;
  /** Returns the message to the store, due again after `ms` milliseconds; never rejects. */
  postpone(ms: number): Promise<void>;
}

interface ReceiverQueue {
  running: number;
  queued: DeliveryTask[];
  failing: boolean;
  durationMs: number;
  /** Time at which the last postponed delivery is due again. */
  postponedUntil: number;
  /** End of the last delivery. */
  usedAt: number;
}

/**
 * Resolves with the release function of a permit for a delivery to a receiver. Rejects if the store
 * is unavailable or the process stops.
 */
export type AcquireDelivery = (receiver: string) => Promise<() => void>;

/** Delivery queues, one per receiver, so that a slow receiver does not delay the others. */
export interface ReceiverQueues {
  /** Runs a delivery when its receiver has capacity, or postpones it if the wait would be long. */
  add(receiver: string, task: DeliveryTask): Promise<void>;
  /** Returns the number of deliveries in progress or queued. */
  held(): number;
  /** Returns the number of receivers whose state is kept. */
  receivers(): number;
  /** Resolves when no delivery is in progress. */
  idle(): Promise<void>;
  /** Postpones all queued deliveries by 0 ms. */
  clear(): Promise<void>;
}

const createReceiverQueue = (): ReceiverQueue => ({
  running: 0,
  queued: [],
  failing: false,
  durationMs: initialDurationMs,
  postponedUntil: 0,
  usedAt: 0,
});

const concurrencyOf = ({ failing }: ReceiverQueue) => (failing ? 1 : maxConcurrency);

/** Records a delivery. A receiver that accepts again gets its postponed deliveries at once. */
function recordDelivery(
  queue: ReceiverQueue,
  isAccepted: boolean,
  { startedAt, endedAt }: { startedAt: number; endedAt: number },
): void {
  queue.durationMs = endedAt - startedAt;
  if (isAccepted && queue.failing) queue.postponedUntil = endedAt;
  queue.failing = !isAccepted;
}

/** Returns true for a queue without anything to remember. */
const isIdle = ({ running, failing, postponedUntil }: ReceiverQueue, now: number): boolean =>
  running === 0 && !failing && postponedUntil <= now;

/** Creates the delivery queues of a process. `acquire` limits the deliveries of all processes. */
export function createReceiverQueues(clock: Clock, acquire: AcquireDelivery): ReceiverQueues {
  const queues = new Map<string, ReceiverQueue>();
  const inProgress = new Set<Promise<void>>();
  let forgotAt = clock.steady();

  const postpone = async (queue: ReceiverQueue, task: DeliveryTask) => {
    // Each delivery comes back after the ones before it, so a long queue is not read from the store
    // repeatedly.
    const now = clock.steady();
    const due = Math.max(queue.postponedUntil, now) + queue.durationMs / concurrencyOf(queue);
    queue.postponedUntil = Math.min(due, now + maxPostponeMs);
    await task.postpone(Math.max(queue.postponedUntil - now, minPostponeMs));
  };

  const run = async (receiver: string, queue: ReceiverQueue, task: DeliveryTask) => {
    // Includes the wait for the permit, so that the expected time in the queue includes the other
    // processes.
    const startedAt = clock.steady();
    const release = await acquire(receiver).catch(() => null);
    const accepted = release === null ? null : await task.run().finally(release);
    if (accepted === null) await task.postpone(0);
    const now = clock.steady();
    queue.running -= 1;
    queue.usedAt = now;
    if (accepted !== null) recordDelivery(queue, accepted, { startedAt, endedAt: now });
    if (accepted === false)
      await Promise.all(queue.queued.splice(0).map((each) => postpone(queue, each)));
    startQueued(receiver, queue);
    if (isIdle(queue, now)) queues.delete(receiver);
  };

  const startQueued = (receiver: string, queue: ReceiverQueue) => {
    while (queue.queued.length > 0 && queue.running < concurrencyOf(queue))
      start(receiver, queue, queue.queued.shift()!);
  };

  /** Deletes the queues of receivers without recent deliveries, such as deleted receivers. */
  const forget = () => {
    const before = clock.steady() - maxPostponeMs;
    if (forgotAt > before) return;
    forgotAt = clock.steady();
    for (const [receiver, { running, queued, postponedUntil, usedAt }] of queues)
      if (running === 0 && queued.length === 0 && Math.max(postponedUntil, usedAt) <= before)
        queues.delete(receiver);
  };

  const start = (receiver: string, queue: ReceiverQueue, task: DeliveryTask) => {
    queue.running += 1;
    const running = run(receiver, queue, task).finally(() => inProgress.delete(running));
    inProgress.add(running);
  };

  return {
    async add(receiver, task) {
      forget();
      const queue = queues.get(receiver) ?? createReceiverQueue();
      queues.set(receiver, queue);
      if (queue.running < concurrencyOf(queue)) return start(receiver, queue, task);
      const expectedMs = ((queue.queued.length + 1) * queue.durationMs) / maxConcurrency;
      if (queue.failing || expectedMs > maxQueueMs || queue.queued.length === maxQueued)
        return postpone(queue, task);
      queue.queued.push(task);
    },
    receivers: () => queues.size,
    held: () =>
      inProgress.size + queues.values().reduce((sum, { queued }) => sum + queued.length, 0),
    async idle() {
      while (inProgress.size > 0) await Promise.all(inProgress);
    },
    async clear() {
      const queued = [...queues.values()].flatMap((queue) => queue.queued.splice(0));
      await Promise.all(queued.map((task) => task.postpone(0)));
    },
  };
}
