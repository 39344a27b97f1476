import type { Timing } from './timing.ts';

/** A consumer at one moment, as the engine and this process see it. */
export interface Look {
  /** Milliseconds since the epoch. */
  at: number;
  /** Tells a consumer from one made later under its name. */
  created: string;
  /** Raised by every delivery, also of a message that comes again. */
  delivered: number;
  /** Messages not delivered yet, and messages in someone's hands. */
  waiting: number;
  held: number;
  concurrency: number;
  /** Handlers running in this process. */
  running: number;
}

/**
 * Watches one consumer for standing still, which users of work-queue streams have seen: given a look
 * every now and then, says why the consumer has to be made anew, or null. Someone else's long work
 * looks like slots that are never given back; making the consumer anew then costs a message that
 * comes twice, which the store sees through.
 */
export function watchForStillness(timing: Pick<Timing, 'idleMs' | 'heldMs'>): (look: Look) => string | null {
  let last: Look | null = null;
  let idleSince = 0;
  let heldSince = 0;
  return (look) => {
    const moved = last === null || look.created !== last.created || look.delivered !== last.delivered;
    last = look;
    const idle = look.waiting > 0 && look.held < look.concurrency && look.running < look.concurrency;
    const held = look.held >= look.concurrency && look.running === 0;
    if (moved || !idle) idleSince = look.at;
    if (moved || !held) heldSince = look.at;
    if (look.at - idleSince >= timing.idleMs) return 'messages wait and are not delivered';
    if (look.at - heldSince >= timing.heldMs) return 'messages in hand do not come back';
    return null;
  };
}
