import type { Outcome, Unit } from '../store/batches.ts';

/**
 * Returns the member of a unit's view that marks a reused result: when it was collected, in Unix
 * seconds.
 */
export function reusedMember(outcome: Outcome | undefined): { collectedAt?: number } {
  if (outcome?.status !== 'SUCCESS' || outcome.collectedAt === undefined) return {};
  return { collectedAt: Math.floor(outcome.collectedAt / 1000) };
}

/** Returns a string field of a unit's input, or '' if it is absent. */
export function inputText(unit: Unit, name: string): string {
  const value = unit.input[name];
  return typeof value === 'string' ? value : '';
}
