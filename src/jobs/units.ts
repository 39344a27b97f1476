import { Fault } from '../base/fault.ts';
import type { BatchSummary, Job } from '../store/documents.ts';
import type { Page, PageOptions } from '../store/store.ts';
import type { JobContext } from './context.ts';
import { mayHoldFailed, type PlacedUnit, readPlaced, unitsOf } from './placed.ts';

/** Which units of a job are asked for. */
export interface UnitFilter {
  /** Only units in this state. */
  status?: PlacedUnit['status'];
  /** Only failed units with this fault code. */
  code?: string;
}

/**
 * A page of a job's units in the order submitted. Its token is a place in the job, so that a page goes on
 * where the one before ended while outcomes come in; batches before it, and those without a unit that is
 * asked for, are not read. Fault `invalid` for a token that is none.
 */
export async function listUnits(
  { store }: JobContext,
  job: Job,
  { status, code }: UnitFilter,
  { limit, after }: PageOptions,
): Promise<Page<PlacedUnit>> {
  const from = readPlace(after);
  const holds = holding(job, code === undefined ? status : 'FAILED');
  const wanted = (summary: BatchSummary, first: number) => first + summary.total > from && holds(summary);
  const items: PlacedUnit[] = [];
  for await (const placed of readPlaced(store, job.id, wanted)) {
    for (const unit of unitsOf(job, placed)) {
      if (unit.index < from || (status !== undefined && unit.status !== status)) continue;
      if (code !== undefined && !(unit.outcome?.status === 'FAILED' && unit.outcome.code === code)) continue;
      if (items.length === limit) return { items, next: String(unit.index) };
      items.push(unit);
    }
  }
  return { items, next: null };
}

/** Whether a batch may hold a unit in a state. */
function holding(job: Job, status: UnitFilter['status']): (summary: BatchSummary) => boolean {
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

function readPlace(token: string | null | undefined): number {
  if (!token) return 0;
  if (!/^[0-9]{1,9}$/.test(token))
    throw Fault.invalid(['body', 'page_token'], 'Value is not a page token of this list', 'value_error');
  return Number(token);
}
