import type { JetStreamTiming } from './timing.ts';

/** State of a consumer at one time. */
export interface ConsumerState {
  /** Milliseconds since the epoch. */
  at: number;
  /** Creation time, which distinguishes a consumer from a later one of the same name. */
  created: string;
  /** Consumer sequence of the last delivery, redeliveries included. */
  delivered: number;
  /** Messages not delivered yet. */
  pending: number;
  /** Messages delivered but not acknowledged. */
  ackPending: number;
  concurrency: number;
  /** Handlers running in this process. */
  running: number;
}

/**
 * Creates a detector of stalled consumers, which occur on work-queue streams (nats-server#7680).
 * Called with successive states, it returns the reason to recreate the consumer, or null. Long work
 * in another process looks like unacknowledged messages; recreating the consumer then causes a
 * duplicate delivery, which the store ignores.
 */
export function detectStall(
  timing: Pick<JetStreamTiming, 'idleMs' | 'heldMs'>,
): (state: ConsumerState) => string | null {
  let last: ConsumerState | null = null;
  let idleSince = 0;
  let heldSince = 0;
  return (state) => {
    const { at, created, delivered, pending, ackPending, concurrency, running } = state;
    const hasProgress = last === null || created !== last.created || delivered !== last.delivered;
    last = state;
    const isIdle = pending > 0 && ackPending < concurrency && running < concurrency;
    const isHeld = ackPending >= concurrency && running === 0;
    if (hasProgress || !isIdle) idleSince = at;
    if (hasProgress || !isHeld) heldSince = at;
    if (at - idleSince >= timing.idleMs) return 'pending messages are not delivered';
    if (at - heldSince >= timing.heldMs) return 'delivered messages are not acknowledged';
    return null;
  };
}
