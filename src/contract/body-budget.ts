import { Fault } from './fault.ts';

/** Limits of createBodyBudget(), in bytes. */
export interface BodyBudgetLimits {
  totalBytes: number;
  /** Maximum held for one user. */
  userBytes: number;
}

/**
 * Memory for request bodies that are being read, decoded, and handled, shared by all edges of a
 * process.
 */
export interface BodyBudget {
  /**
   * Waits until `bytes` are free and reserves them. Returns an idempotent function that frees them,
   * for the end of the call: its response may take longer. Rejects with the signal's reason if the
   * signal aborts first.
   */
  reserve(userId: string, bytes: number, signal: AbortSignal): Promise<() => void>;
  /** Returns the bytes that are reserved, and the limit. */
  usage(): { usedBytes: number; limitBytes: number };
}

/**
 * Default limits. A body of unknown length reserves the method's whole limit, so three are handled
 * at a time.
 */
const defaultBodyBudget: BodyBudgetLimits = {
  totalBytes: 48 * 1024 * 1024,
  userBytes: 32 * 1024 * 1024,
};

interface Waiter {
  userId: string;
  bytes: number;
  start(): void;
}

/**
 * Creates a budget. Reservations are served in order of arrival, but a user at their limit does not
 * block other users. A body larger than a limit waits until nothing else is held under that limit.
 */
export function createBodyBudget({
  totalBytes,
  userBytes,
}: BodyBudgetLimits = defaultBodyBudget): BodyBudget {
  const waiting = new Set<Waiter>();
  const byUser = new Map<string, number>();
  let used = 0;

  const fits = (held: number, bytes: number, limit: number) => held === 0 || held + bytes <= limit;
  const add = (userId: string, bytes: number) => {
    used += bytes;
    const held = (byUser.get(userId) ?? 0) + bytes;
    if (held === 0) byUser.delete(userId);
    else byUser.set(userId, held);
  };
  const startWaiting = () => {
    for (const waiter of waiting) {
      if (!fits(byUser.get(waiter.userId) ?? 0, waiter.bytes, userBytes)) continue;
      // Smaller bodies must not overtake, or a large body would never start.
      if (!fits(used, waiter.bytes, totalBytes)) return;
      waiting.delete(waiter);
      add(waiter.userId, waiter.bytes);
      waiter.start();
    }
  };

  return {
    usage: () => ({ usedBytes: used, limitBytes: totalBytes }),
    reserve(userId, bytes, signal) {
      return new Promise((resolve, reject) => {
        const aborted = () => {
          waiting.delete(waiter);
          reject(signal.reason ?? new Fault('unavailable', 'The request was cancelled.'));
          startWaiting();
        };
        if (signal.aborted) return reject(signal.reason);
        let reserved = true;
        const free = () => {
          if (!reserved) return;
          reserved = false;
          add(userId, -bytes);
          startWaiting();
        };
        const waiter: Waiter = {
          userId,
          bytes,
          start() {
            signal.removeEventListener('abort', aborted);
            resolve(free);
          },
        };
        signal.addEventListener('abort', aborted, { once: true });
        waiting.add(waiter);
        startWaiting();
      });
    },
  };
}
