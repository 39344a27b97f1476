import type { Job } from '../../store/documents.ts';
import type { StoreUse } from '../context.ts';
import { mayHoldFailed, type PlacedUnit, readPlaced, unitsOf } from '../placed.ts';

/** Dependencies of this module. */
export type FaultsContext = StoreUse<'listBatches' | 'readBatches'>;

/** Failed units of a job with the same fault code. */
export interface FaultGroup {
  code: string;
  /** Number of units. */
  units: number;
  /** The first units, in submission order. */
  examples: PlacedUnit[];
}

/** Maximum examples of a group. */
const maxExamples = 5;

/**
 * Groups a job's failed units by fault code, the most frequent first. Streams the batches; only counts and examples
 * stay in memory.
 */
export async function groupFaults({ store }: FaultsContext, job: Job): Promise<FaultGroup[]> {
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
