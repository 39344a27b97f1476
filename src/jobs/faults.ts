import type { Job } from '../store/documents.ts';
import type { JobContext } from './context.ts';
import { mayHoldFailed, type PlacedUnit, readPlaced, unitsOf } from './placed.ts';

/** Failed units of a job that came to the same fault. */
export interface FaultGroup {
  code: string;
  /** How many there are. */
  units: number;
  /** The first of them, in the order submitted. */
  examples: PlacedUnit[];
}

/** Examples of a group at most. */
const maxExamples = 5;

/**
 * Groups a job's failed units by fault code, the most frequent first. Batches pass one after the other; only
 * counts and examples are held.
 */
export async function groupFaults({ store }: JobContext, job: Job): Promise<FaultGroup[]> {
  const groups = new Map<string, FaultGroup>();
  for await (const placed of readPlaced(store, job.id, mayHoldFailed(job))) {
    for (const unit of unitsOf(job, placed)) {
      if (unit.outcome?.status !== 'FAILED') continue;
      const { code } = unit.outcome;
      const group = groups.get(code) ?? { code, units: 0, examples: [] };
      groups.set(code, group);
      group.units += 1;
      if (group.examples.length < maxExamples) group.examples.push(unit);
    }
  }
  return [...groups.values()].sort(
    (one, other) => other.units - one.units || (one.code < other.code ? -1 : 1),
  );
}
