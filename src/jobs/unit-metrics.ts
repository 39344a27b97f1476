import type { Outcome, OutstandingState } from '../store/batches.ts';
import type { Job } from '../store/documents.ts';
import type { JobContext, StoreUse } from './context.ts';

/** Outcome of a unit that failed. */
export type FailedOutcome = Outcome & { status: 'FAILED' };

/** Counts units that got an outcome. */
export function countOutcomes(
  { metrics }: Pick<JobContext, 'metrics'>,
  { market, kind }: Job,
  outcomes: Readonly<Record<number, Outcome>>,
): void {
  for (const outcome of Object.values(outcomes)) {
    const code = outcome.status === 'FAILED' ? outcome.code : 'ok';
    metrics.add('gleaner_units_total', { market, kind, code });
  }
}

/**
 * Ends the outstanding units of a job's batches in `states` with a failure, counts them, and returns their
 * number.
 */
export async function failUnits(
  { store, clock, metrics }: Pick<JobContext, 'clock' | 'metrics'> & StoreUse<'batches'>,
  { id, market, kind }: Job,
  states: readonly OutstandingState[],
  outcome: FailedOutcome,
): Promise<number> {
  const failed = await store.batches.fail(id, states, outcome, clock.now());
  if (failed > 0) metrics.add('gleaner_units_total', { market, kind, code: outcome.code }, failed);
  return failed;
}
