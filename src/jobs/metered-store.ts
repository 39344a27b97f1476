import type { Store } from '../store/store.ts';
import { replaceMethods } from '../store/wrap.ts';
import type { Metrics } from '../telemetry/metrics.ts';

/**
 * Wraps a store to count ended jobs, claims of batches, and credits. A step that is repeated after a crash
 * counts again where the store accepts it again.
 */
export function meterStore(store: Store, metrics: Metrics): Store {
  return replaceMethods(store, {
    jobs: {
      async move(jobId, from, to, at, patch) {
        const job = await store.jobs.move(jobId, from, to, at, patch);
        if (job === null) return null;
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
      async claim(batchId, attempt, now, leaseUntil) {
        const batch = await store.batches.claim(batchId, attempt, now, leaseUntil);
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
        if (posting.posted)
          metrics.add('gleaner_credits_total', { type: entry.type }, Math.abs(entry.amount));
        return posting;
      },
    },
  });
}
