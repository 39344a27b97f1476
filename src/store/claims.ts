import type { Batches, BatchStore } from './batch-store.ts';
import type { Batch, BatchKey, BatchWait, IsolatedUnit } from './batches.ts';

/** Fields of a claimed batch that its worker changes beside the outcomes. */
export type ClaimChange = Partial<Pick<Batch, 'leaseUntil' | 'isolated' | 'wait'>>;

/** Conditions of a batch whose claim is not lost. */
const claimed = ({ id, jobId, attempt }: Claim) => ({
  id,
  jobId,
  attempt,
  state: 'claimed' as const,
});

/** States of a batch during a claim, and after the claim expired. */
const unfinished = { in: ['claimed' as const, 'queued' as const] };

export type Claim = BatchKey & Pick<Batch, 'attempt'>;

/**
 * Extends a claim, records the unit that the worker is about to read in isolation, or replaces the
 * last wait. Returns false if the claim was lost.
 */
export async function updateClaim(
  { batches }: Batches,
  claim: Claim,
  change: ClaimChange,
): Promise<boolean> {
  return (await batches.update(claimed(claim), change)) !== null;
}

/**
 * Records that the worker of a lost claim is alive, so that the claim does not count as one without
 * progress: it was late to renew it, or the process that took the batch had another clock.
 */
export async function excuseClaim(
  { batches }: Batches,
  { id, jobId, attempt }: Claim,
): Promise<void> {
  const lost = {
    id,
    jobId,
    attempt: { atLeast: attempt },
    state: unfinished,
    stalledClaims: { above: 0 },
  };
  await batches.update(lost, {}, { add: { stalledClaims: -1 }, relaxed: true });
}

/**
 * Records that the claim before a claim had progress, so that its unrecorded end does not count
 * against the pages of the batch. Returns false if the claim was lost.
 */
export async function excuseEarlierClaim({ batches }: Batches, claim: Claim): Promise<boolean> {
  // The claim itself counts as one until it ends.
  const where = { ...claimed(claim), stalledClaims: { above: 1 } };
  return (await batches.update(where, {}, { add: { stalledClaims: -1 }, relaxed: true })) !== null;
}

/**
 * Claims of a batch after which its interrupted claims count, because one of its pages may be the
 * cause.
 */
const maxExcused = 50;

/**
 * Records that the claims of an earlier service ended with it, so that they do not count as claims
 * without progress. For a service whose pages are read by other processes, and which no page can
 * end.
 */
export async function excuseInterrupted({ batches }: Batches): Promise<void> {
  const interrupted = await batches.find(
    { state: 'claimed', attempt: { atMost: maxExcused } },
    { order: [] },
  );
  for (const claim of interrupted) await excuseClaim({ batches }, claim);
}

/** End of a claim. */
export interface ClaimEnd {
  /**
   * True if the claim counts as one without progress, and a unit that it was reading in isolation
   * as failed.
   */
  failed?: boolean;
  /** True if the claim counts as one without progress and without a recorded end. */
  unseen?: boolean;
  /**
   * True if a claim that has expired is released too, unless another worker has claimed the batch
   * since.
   */
  expired?: boolean;
  /** Replaces the batch's last wait. */
  wait?: BatchWait;
}

/**
 * Moves a claimed batch back to `queued`, not to be published before `notBefore`. Returns false if
 * the claim was lost. Unless the claim failed, it does not count as one without progress.
 */
export async function releaseBatch(
  { batches }: Batches,
  claim: Claim,
  notBefore: number,
  { failed = false, unseen = false, expired = false, wait }: ClaimEnd = {},
): Promise<boolean> {
  const isolated = failed ? await failedStart(batches, claim) : null;
  const change = {
    state: 'queued' as const,
    leaseUntil: null,
    notBefore,
    ...(wait && { wait }),
    ...(isolated && { isolated }),
  };
  // Each claim has incremented the count, and outcomes do not lower it to 0.
  const options = failed || unseen ? {} : { add: { stalledClaims: -1 } };
  const { id, jobId, attempt } = claim;
  const where = expired
    ? {
        id,
        jobId,
        attempt,
        state: unfinished,
      }
    : claimed(claim);
  return (await batches.update(where, change, options)) !== null;
}

/** Maximum attempts at a change of a batch that other workers claim concurrently. */
const maxTries = 3;

/**
 * Releases a batch whose worker stalled on a unit: the unit has failed once more, and is read in
 * isolation from now on. If the claim has expired and another worker has claimed the batch since,
 * only records the failure, and returns false.
 */
export async function releaseStalled(
  { batches }: Batches,
  { id, jobId, attempt }: Claim,
  index: number,
  notBefore: number,
): Promise<boolean> {
  for (let tries = 0; tries < maxTries; tries += 1) {
    const batch = await batches.pick({ id, jobId, state: unfinished }, ['attempt', 'isolated']);
    if (batch === null) return false;
    const { starts, failures = 0 } =
      batch.isolated?.index === index ? batch.isolated : { starts: 0, failures: 0 };
    const isolated = { index, starts: Math.max(0, starts - 1), failures: failures + 1 };
    const isOwn = batch.attempt === attempt;
    const release = { state: 'queued' as const, leaseUntil: null, notBefore };
    const change = isOwn ? { ...release, isolated } : { isolated };
    const unchanged = {
      id,
      jobId,
      attempt: batch.attempt,
      state: unfinished,
    };
    if (await batches.update(unchanged, change)) return isOwn;
  }
  return false;
}

/**
 * Returns the isolated unit of a claim with its last start as a failure. Null if it has no start.
 */
async function failedStart(batches: BatchStore, claim: Claim): Promise<IsolatedUnit | null> {
  const isolated = (await batches.pick(claimed(claim), ['isolated']))?.isolated;
  if (!isolated?.starts) return null;
  const { starts, failures = 0 } = isolated;
  return { ...isolated, starts: starts - 1, failures: failures + 1 };
}
