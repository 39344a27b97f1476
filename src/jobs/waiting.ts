import type { Counts, Job, Lane } from '../store/documents.ts';
import type { BatchWait } from '../store/waits.ts';
import type { JobContext } from './context.ts';
import { isOpen } from './dispatch.ts';

/** A unit that cannot be read now, and when it is tried again. */
export interface DeferredUnit {
  until: number;
  /** What it waits for: "mkta/id: blocked (page_blocked)". */
  reason: string;
  /** Tries so far. */
  tries: number;
}

/** What reading a batch came to: what its remaining units wait for, null when every unit has an outcome. */
export interface ReadUnits {
  wait: BatchWait | null;
}

/** How far a unit may be put off. */
export interface RetryBudget {
  /** Tries of the unit before this claim of its batch. */
  tries: number;
  /** It fails rather than wait beyond this. */
  until: number;
}

/** What waits no longer than this does so where it is; for anything longer the batch is given back. */
export const maxInPlaceWaitMs = 10_000;

/**
 * How long a batch is put off while none of its units can be read: after that they fail. Whoever waits
 * for a single page is told sooner.
 */
export const maxWaitMs: Readonly<Record<Lane, number>> = { single: 10 * 60_000, bulk: 60 * 60_000 };

/** Returns when a batch began to wait for its origins: now if it has not waited, or last waited for an engine. */
export function waitingSince(waited: BatchWait | null, now: number): number {
  return waited !== null && waited.failures === 0 ? waited.since : now;
}

/** The wait of a batch whose units cannot be read now: all of them until the last may be tried. */
export function waitOf(
  batch: { id: string; jobId: string },
  later: ReadonlyMap<number, DeferredUnit>,
  since: number,
): BatchWait {
  const { until, reason } = [...later.values()].reduce((one, other) =>
    other.until > one.until ? other : one,
  );
  const tries = Object.fromEntries([...later].map(([index, unit]) => [index, unit.tries]));
  return { batchId: batch.id, jobId: batch.jobId, since, until, reason, tries, failures: 0 };
}

/**
 * What holds a running job up, in words: "working hours", or what the first of its batches to go on
 * waits for, "mkta/id: blocked (page_blocked), next try 2030-01-07T04:00:00.000Z". Null for nothing.
 */
export async function waitingFor(context: JobContext, job: Job, counts?: Counts): Promise<string | null> {
  if (job.state !== 'approved' && job.state !== 'processing') return null;
  const { store, clock } = context;
  if (!isOpen(context, job)) {
    const { batches } = counts ?? (await store.countJob(job.id));
    const left = batches.total - batches.success - batches.failed;
    const { batches: underWay, deferred: putOff } = await store.countInFlight(job.id, clock.now());
    // Those dispatched before go on.
    if (left > [...putOff.values()].reduce((sum, count) => sum + count, underWay)) return 'working hours';
  }
  const [first] = await store.listWaits(job.id, clock.now());
  return first ? `${first.reason}, next try ${new Date(first.until).toISOString()}` : null;
}
