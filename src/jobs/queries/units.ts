import { type Page, type PageOptions, placeToken, readPlace } from '../../store/cursor.ts';
import type { BatchSummary, Job } from '../../store/documents.ts';
import type { StoreUse } from '../context.ts';
import { mayHoldFailed, type PlacedUnit, readPlaced, unitsOf } from '../placed.ts';

/** Dependencies of this module. */
export type UnitsContext = StoreUse<'listBatches' | 'readBatches'>;

/** Filter for the units of a job. */
export interface UnitFilter {
  /** Returns only units with this status. */
  status?: PlacedUnit['status'];
  /** Returns only failed units with this fault code. */
  code?: string;
}

/**
 * Lists a page of a job's units in submission order. The page token is an index in the job, so pages stay consistent
 * while outcomes arrive. Skips batches before it and batches without matching units. Fault `invalid` for a malformed
 * token.
 */
export async function listUnits(
  { store }: UnitsContext,
  job: Job,
  { status, code }: UnitFilter,
  { limit, after }: PageOptions,
): Promise<Page<PlacedUnit>> {
  const [from] = readPlace(after);
  const holds = mayContain(job, code === undefined ? status : 'FAILED');
  const wanted = (summary: BatchSummary, first: number) => first + summary.total > from && holds(summary);
  const items: PlacedUnit[] = [];
  for await (const placed of readPlaced(store, job.id, wanted)) {
    for (const unit of unitsOf(job, placed)) {
      if (unit.index < from || (status !== undefined && unit.status !== status)) continue;
      if (code !== undefined && !(unit.outcome?.status === 'FAILED' && unit.outcome.code === code)) continue;
      if (items.length === limit) return { items, next: placeToken(unit.index) };
      items.push(unit);
    }
  }
  return { items, next: null };
}

/** Returns a filter for batches that may contain a unit with a status. */
function mayContain(job: Job, status: UnitFilter['status']): (summary: BatchSummary) => boolean {
  switch (status) {
    case 'SUCCESS':
      return ({ success }) => success > 0;
    case 'FAILED':
      return mayHoldFailed(job);
    case 'PENDING':
      return ({ state }) => state !== 'done';
    default:
      return () => true;
  }
}
