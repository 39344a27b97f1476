import { Fault } from '../contract/fault.ts';

/** Limits of createBodyBudget(), in bytes. */
export interface BodyBudgetLimits {
  totalBytes: number;
  /** Largest share of one user. */
  userBytes: number;
}

/** Memory for request bodies that are being read, decoded and handled, shared by every edge of a process. */
export interface BodyBudget {
  /**
   * Waits until `bytes` are free and reserves them; the result frees them and may be called again.
   * Rejects with the signal's reason when it is aborted first.
   */
  reserve(userId: string, bytes: number, signal: AbortSignal): Promise<() => void>;
}

/** Limits of a process. A body of unknown length reserves its method's whole limit, so three are handled at once. */
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
 * Creates a budget. Requests are served in order of arrival, except that those of a user whose share is in use
 * do not hold up other users. A body larger than a limit waits until it is the only one under that limit.
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
      // Large bodies would never start if smaller ones behind them did.
      if (!fits(used, waiter.bytes, totalBytes)) return;
      waiting.delete(waiter);
      add(waiter.userId, waiter.bytes);
      waiter.start();
    }
  };

  return {
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
