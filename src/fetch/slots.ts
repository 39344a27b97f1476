import type { Clock } from '../base/clock.ts';
import type { OriginPause, OriginStore } from '../store/origin-state.ts';

/** Waits for its turn to send one request. */
export interface Turns {
  /** Resolves when a request may be sent. Rejects with the signal's reason when aborted before. */
  take(signal?: AbortSignal): Promise<void>;
  /** Forgets slots that are reserved but not used: the origin is to be left alone. */
  drop(): void;
  /** Keeps turns this far apart from the next reservation on. */
  space(intervalMs: number): void;
}

/** What turns are made of. */
export interface TurnOptions {
  origin: string;
  intervalMs: number;
  reserve: OriginStore['reserveRequests'];
  /** Told what the store knows of the origin. */
  learn(pause: OriginPause): void;
  clock: Clock;
}

/** No more than this is reserved ahead, so that other workers get their turn. */
const aheadMs = 1000;

/** A slot this late may still be used: timers are not exact. */
const lateMs = 100;

/**
 * Turns at one origin, an interval apart over all workers. Slots are reserved a few at a time: twice
 * as many as before when all were used, half as many when some went by unused, at most a second's worth.
 */
export function createTurns({ origin, intervalMs: first, reserve, learn, clock }: TurnOptions): Turns {
  let wanted = first;
  /** Of the slots at hand. */
  let intervalMs = first;
  let chunk = 1;
  let next = 0;
  let left = 0;
  let reserving: Promise<void> | null = null;

  const refill = async () => {
    const most = Math.max(1, Math.floor(aheadMs / wanted));
    const slots = Math.min(chunk, most);
    const interval = wanted;
    const reserved = await reserve(origin, slots, interval, clock.now());
    // First, for what is learnt may drop what is at hand.
    learn(reserved.pause);
    intervalMs = interval;
    next = reserved.first;
    left = slots;
    chunk = Math.min(slots * 2, most);
  };

  const skipMissed = () => {
    const tolerance = Math.max(intervalMs, lateMs);
    const missed = Math.min(left, Math.ceil((clock.now() - tolerance - next) / intervalMs));
    if (missed <= 0) return;
    next += missed * intervalMs;
    left -= missed;
    // Doubled when these were reserved, so a quarter is half of what they were.
    chunk = Math.max(1, Math.floor(chunk / 4));
  };

  const slot = async (): Promise<number> => {
    for (;;) {
      skipMissed();
      if (left > 0) {
        const at = next;
        next += intervalMs;
        left -= 1;
        return at;
      }
      reserving ??= refill().finally(() => {
        reserving = null;
      });
      await reserving;
    }
  };

  return {
    take: async (signal) => {
      const wait = (await slot()) - clock.now();
      if (signal?.aborted) throw signal.reason;
      if (wait >= 1) await clock.sleep(wait, signal);
    },
    drop: () => {
      left = 0;
      chunk = 1;
    },
    space: (interval) => {
      wanted = interval;
    },
  };
}
