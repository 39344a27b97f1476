import type { Clock } from '../base/clock.ts';
import type { Store } from '../store/store.ts';
import { replaceMethods } from '../store/wrap.ts';

/**
 * Notifies waiters of job changes made by this process. Changes by other processes are found by polling the
 * store.
 */
export interface JobChanges {
  /** Wakes the waiters of a job. */
  notify(jobId: string): void;
  /**
   * Resolves at the next notification about the job, after `ms` milliseconds, when the signal aborts, or on
   * stop(), whichever comes first. Never rejects.
   */
  next(jobId: string, ms: number, signal: AbortSignal): Promise<void>;
  /** True after stop(). */
  readonly stopped: boolean;
  /** Wakes all waiters; next() no longer waits. Called when the service stops. */
  stop(): void;
}

/** Creates a notifier without waiters. */
export function createJobChanges(clock: Clock): JobChanges {
  const waiting = new Map<string, Set<() => void>>();
  let stopped = false;
  return {
    get stopped() {
      return stopped;
    },
    notify(jobId) {
      for (const wake of waiting.get(jobId) ?? []) wake();
    },
    async next(jobId, ms, signal) {
      if (stopped || signal.aborted || ms <= 0) return;
      const done = new AbortController();
      const wake = () => done.abort();
      const others = waiting.get(jobId) ?? new Set();
      waiting.set(jobId, others.add(wake));
      signal.addEventListener('abort', wake, { once: true });
      await clock.sleep(ms, done.signal).catch(() => {});
      signal.removeEventListener('abort', wake);
      others.delete(wake);
      if (others.size === 0 && waiting.get(jobId) === others) waiting.delete(jobId);
    },
    stop() {
      stopped = true;
      for (const wakers of waiting.values()) for (const wake of wakers) wake();
    },
  };
}

/** Wraps a store so that every change of a job's state notifies the waiters of the job. */
export function notifyOnMove(store: Store, changes: JobChanges): Store {
  return replaceMethods(store, {
    jobs: {
      async move(jobId, from, to, at, patch) {
        const moved = await store.jobs.move(jobId, from, to, at, patch);
        if (moved !== null) changes.notify(jobId);
        return moved;
      },
    },
  });
}
