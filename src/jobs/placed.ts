import { unitStatus } from '../kinds/states.ts';
import type { Batch, BatchSummary, Job, Outcome, Unit } from '../store/documents.ts';
import type { BatchStore } from '../store/store.ts';
import { rejectedOutcome } from './settle.ts';

/** A batch and the place of its first unit in the job, from 0. */
export interface PlacedBatch {
  batch: Batch;
  first: number;
}

/** A unit where it stands in its job, with what became of it. */
export interface PlacedUnit {
  /** Place in the job, from 0. */
  index: number;
  batchId: string;
  region: string;
  unit: Unit;
  status: 'PENDING' | 'SUCCESS' | 'FAILED';
  /** Absent while it is outstanding. */
  outcome: Outcome | undefined;
}

/**
 * Reads the batches of a job that are wanted by what their summaries say, in order and a few at a time:
 * those that nobody wants cost no more than their summary. `first` is the place of the batch's first unit.
 */
export async function* readPlaced(
  store: Pick<BatchStore, 'listBatches' | 'readBatches'>,
  jobId: string,
  wanted: (summary: BatchSummary, first: number) => boolean,
): AsyncGenerator<PlacedBatch> {
  const firsts = new Map<number, number>();
  let place = 0;
  for (const summary of await store.listBatches(jobId)) {
    if (wanted(summary, place)) firsts.set(summary.seq, place);
    place += summary.total;
  }
  for await (const batch of store.readBatches(jobId, [...firsts.keys()]))
    yield { batch, first: firsts.get(batch.seq)! };
}

/** The units of a batch. Those of a rejected job have failed, whether or not their batch says so yet. */
export function* unitsOf(job: Job, { batch, first }: PlacedBatch): Generator<PlacedUnit> {
  for (const [at, unit] of batch.units.entries()) {
    const known = batch.outcomes[at];
    const status = unitStatus(known, job);
    const outcome = known ?? (status === 'FAILED' ? rejectedOutcome(job) : undefined);
    yield { index: first + at, batchId: batch.id, region: batch.region, unit, status, outcome };
  }
}

/** Whether a batch may hold units that failed. */
export function mayHoldFailed(job: Job): (summary: BatchSummary) => boolean {
  // The batches of a job that is being rejected fail a moment later.
  return ({ failed }) => failed > 0 || job.state === 'rejecting';
}
