import { isFinalFailure } from '../../contract/final-failure.ts';
import type { Outcome } from '../../store/documents.ts';
import type { FaultGroup } from './faults.ts';

/** Returns true if a retry of a unit with this outcome can succeed. */
export function isRetryable(outcome: Outcome | undefined): boolean {
  return outcome?.status === 'FAILED' && !isFinalFailure(outcome.code);
}

/** Failed units of a job: the number that a retry submits again, and the groups whose failure is final. */
export interface RetryCounts {
  retryable: number;
  final: readonly Pick<FaultGroup, 'code' | 'units'>[];
}

/** Splits the failed units of a job by whether a retry can succeed. */
export function countRetryable(groups: readonly Pick<FaultGroup, 'code' | 'units'>[]): RetryCounts {
  const final = groups.filter(({ code }) => isFinalFailure(code));
  const sum = (some: readonly { units: number }[]) => some.reduce((total, { units }) => total + units, 0);
  return { retryable: sum(groups) - sum(final), final };
}

/** Returns the sentence about the units that a retry leaves out, or null if it leaves out none. */
export function formatLeftOut({ retryable, final }: RetryCounts): string | null {
  if (final.length === 0) return null;
  const leftOut = final.reduce((total, { units }) => total + units, 0);
  const codes = final.map(({ code, units }) => `${units} ${code}`).join(', ');
  return `${retryable} of ${retryable + leftOut} failed units are retried. The failure of the others is final: ${codes}.`;
}
