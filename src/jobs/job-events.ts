import type { Clock } from '../base/clock.ts';
import type { Store } from '../store/store.ts';
import { replaceMethods } from '../store/wrap.ts';
import type { Metrics } from '../telemetry/metrics.ts';

/**
 * Notifies waiters of job changes made by this process. Changes by other processes are found by
 * polling the store.
 */
export interface JobChanges {
  /** Wakes the waiters of a job. */
  notify(jobId: string): void;
  /**
   * Resolves at the next notification about the job, after `ms` milliseconds, when the signal
   * aborts, or on stop(), whichever comes first. Never rejects.
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
      const wakers = waiting.get(jobId) ?? new Set();
      waiting.set(jobId, wakers.add(wake));
      signal.addEventListener('abort', wake, { once: true });
      await clock.sleep(ms, done.signal).catch(() => {});
      signal.removeEventListener('abort', wake);
      wakers.delete(wake);
      if (wakers.size === 0 && waiting.get(jobId) === wakers) waiting.delete(jobId);
    },
    stop() {
      stopped = true;
      for (const wakers of waiting.values()) for (const wake of wakers) wake();
    },
  };
}

/**
 * Wraps a store so that every change of a job's state notifies the waiters of the job. Also counts
 * ended jobs, claims of batches, and credits. A step that is repeated after a crash counts again if
 * the store accepts it again.
 */
export function observeStore(store: Store, changes: JobChanges, metrics: Metrics): Store {
  return replaceMethods(store, {
    jobs: {
      async move(jobId, from, to, at, patch) {
        const job = await store.jobs.move(jobId, from, to, at, patch);
        if (job === null) return null;
        changes.notify(jobId);
        const isDecided = to === 'approved' ? from.includes('approving') : to === 'rejecting';
        if (isDecided) metrics.record('gleaner_approval_wait_seconds', at - job.createdAt);
        if (patch?.finishedAt != null) {
          const { kind, market } = job;
          metrics.add('gleaner_jobs_ended_total', { kind, market, state: to });
          metrics.record('gleaner_job_duration_seconds', at - job.createdAt);
        }
        return job;
      },
    },
    batches: {
      async claim(key, attempt, now, leaseUntil) {
        const batch = await store.batches.claim(key, attempt, now, leaseUntil);
        if (batch === null) return null;
        if (batch.attempt > 1) metrics.add('gleaner_batch_redeliveries_total', {});
        const waitedMs = Math.max(0, now - (batch.dueAt ?? now));
        metrics.record('gleaner_batch_schedule_to_start_seconds', waitedMs);
        return batch;
      },
    },
    ledger: {
      async post(entry) {
        const posting = await store.ledger.post(entry);
        // A grant below 0 takes credits back.
        const type = entry.type === 'grant' && entry.amount < 0 ? 'deduction' : entry.type;
        if (posting.posted) metrics.add('gleaner_credits_total', { type }, Math.abs(entry.amount));
        return posting;
      },
    },
  });
}
