import type { Batch, Batches, BatchStore, BatchWait, IsolatedUnit } from './batches.ts';

/** Fields of a claimed batch that its worker changes beside the outcomes. */
export type ClaimChange = Partial<Pick<Batch, 'leaseUntil' | 'isolated' | 'wait'>>;

/** Conditions of a batch whose claim is not lost. */
const claimed = ({ id, attempt }: Claim) => ({ id, attempt, state: 'claimed' as const });

export type Claim = Pick<Batch, 'id' | 'attempt'>;

/**
 * Extends a claim, records the unit that the worker is about to read in isolation, or replaces the last wait.
 * Returns false if the claim was lost.
 */
export async function updateClaim({ batches }: Batches, claim: Claim, change: ClaimChange): Promise<boolean> {
  return (await batches.update(claimed(claim), change)) !== null;
}

/**
 * Moves a claimed batch back to `queued`, not to be published before `notBefore`. Returns false if the claim
 * was lost. Unless the claim `failed`, it does not count as one without progress; if it did, a unit that it
 * was reading in isolation has failed. `wait` replaces the batch's last wait.
 */
export async function releaseBatch(
  { batches }: Batches,
  claim: Claim,
  notBefore: number,
  { failed = false, wait }: { failed?: boolean; wait?: BatchWait } = {},
): Promise<boolean> {
  const isolated = failed ? await failedStart(batches, claim) : null;
  const change = {
    ...{ state: 'queued' as const, leaseUntil: null, notBefore },
    ...(wait && { wait }),
    ...(isolated && { isolated }),
  };
  // Each claim has incremented the count, and outcomes do not lower it to 0.
  const options = failed ? {} : { add: { stalledClaims: -1 } };
  return (await batches.update(claimed(claim), change, options)) !== null;
}

/** Returns the isolated unit of a claim with its last start as a failure. Null if it has no start. */
async function failedStart(batches: BatchStore, claim: Claim): Promise<IsolatedUnit | null> {
  const isolated = (await batches.pick(claimed(claim), ['isolated']))?.isolated;
  if (!isolated?.starts) return null;
  const { starts, failures = 0 } = isolated;
  return { ...isolated, starts: starts - 1, failures: failures + 1 };
}
