import type { Clock } from '../base/clock.ts';
import type { Store } from '../store/store.ts';

/** Wakes whoever waits for a job in this process. What other processes do is found by asking the store. */
export interface JobChanges {
  /** Wakes those who wait for the job. */
  notify(jobId: string): void;
  /**
   * Resolves when the job is told of, after `ms` milliseconds, when the signal aborts or when everything
   * stops, whichever is first. Never rejects.
   */
  next(jobId: string, ms: number, signal: AbortSignal): Promise<void>;
  /** Set once nobody is to wait any more: the service stops. */
  readonly stopped: boolean;
  /** Wakes everybody, and lets nobody wait from now on. */
  stop(): void;
}

/** Makes it; nobody waits yet. */
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
      const over = new AbortController();
      const wake = () => over.abort();
      const others = waiting.get(jobId) ?? new Set();
      waiting.set(jobId, others.add(wake));
      signal.addEventListener('abort', wake, { once: true });
      await clock.sleep(ms, over.signal).catch(() => {});
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

/** The same store, which tells of every job that it moves. */
export function notifyOnMove(store: Store, changes: JobChanges): Store {
  return {
    ...store,
    async moveJob(jobId, from, to, at, patch) {
      const moved = await store.moveJob(jobId, from, to, at, patch);
      if (moved !== null) changes.notify(jobId);
      return moved;
    },
  };
}
