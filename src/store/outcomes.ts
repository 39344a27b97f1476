import { Fault } from '../contract/fault.ts';
import type { OutcomeWrite } from './batch-store.ts';
import type { Batch, Outcome, Segment } from './batches.ts';

/** Outcomes of a batch by the index of the unit. */
export type Outcomes = Record<number, Outcome>;

/**
 * Maximum count of claims without progress that remains after an outcome: one unit may end a worker
 * while others of the batch have outcomes, so that progress must not clear the batch of suspicion.
 */
export const maxStalledWithProgress = 3;

/**
 * Changes that a write makes to a batch: new outcomes, and the segments and counts after the write.
 */
export interface OutcomeChange
  extends Pick<Batch, 'segments' | 'success' | 'failed' | 'storedBytes'> {
  fresh: Outcomes;
}

/** Stored outcomes and segments of a batch. */
export interface BatchOutcomes {
  total: number;
  outcomes: Outcomes;
  segments: Segment[];
}

/**
 * Computes the changes that a write makes to a batch. A unit keeps its first outcome, and its first
 * record until the batch ends, so that a repeated write counts nothing twice. The segment of a
 * write that ends the batch replaces all others. Throws `internal` for an unknown unit, or if the
 * batch would end with outstanding units.
 */
export function addOutcomes(
  batchId: string,
  batch: BatchOutcomes,
  write: OutcomeWrite,
): OutcomeChange {
  const { total, outcomes: storedOutcomes } = batch;
  const fresh: Outcomes = {};
  for (const [key, outcome] of Object.entries(write.outcomes)) {
    const index = Number(key);
    if (!(Number.isInteger(index) && index >= 0 && index < total))
      throw new Fault('internal', `batch ${batchId} has no unit ${key}`);
    if (!storedOutcomes[index]) fresh[index] = outcome;
  }
  const { success, failed } = countOutcomes(storedOutcomes, fresh);
  if (write.end && success + failed < total) {
    throw new Fault(
      'internal',
      `batch ${batchId} cannot end with ${total - success - failed} outstanding units`,
    );
  }
  const segments = addSegment(batch.segments, fresh, write);
  const files = [storedOutcomes, fresh].flatMap((set) => Object.values(set)).map(fileBytes);
  const storedBytes = [...files, ...segments.map(({ bytes }) => bytes)].reduce(
    (sum, bytes) => sum + bytes,
    0,
  );
  return { fresh, segments, success, failed, storedBytes };
}

function fileBytes(outcome: Outcome) {
  if (outcome.status === 'SUCCESS') return outcome.file?.bytes ?? 0;
  return 0;
}

function addSegment(
  segments: Segment[],
  fresh: Outcomes,
  { segment = null, end }: OutcomeWrite,
): Segment[] {
  if (segment === null) return segments;
  if (end) return [segment];
  const records = Object.fromEntries(
    Object.entries(segment.records).filter(([index]) => fresh[Number(index)]?.status === 'SUCCESS'),
  );
  if (Object.keys(records).length === 0) return segments;
  return [...segments, { ...segment, records }];
}

/** Counts successful and failed units in disjoint sets of outcomes. */
export function countOutcomes(...sets: Outcomes[]): { success: number; failed: number } {
  const all = sets.flatMap((set) => Object.values(set));
  const success = all.filter(({ status }) => status === 'SUCCESS').length;
  return { success, failed: all.length - success };
}

/** Returns the outcomes of a batch of `total` units, with `outcome` for each unit that had none. */
export function failOutstanding(
  total: number,
  storedOutcomes: Outcomes,
  outcome: Outcome,
): Outcomes {
  return Object.fromEntries(
    Array.from({ length: total }, (_, index) => [index, storedOutcomes[index] ?? outcome]),
  );
}
