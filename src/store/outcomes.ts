import { Fault } from '../base/fault.ts';
import type { Outcome, Part, StoredFile } from './documents.ts';

/** Outcomes of a batch by the unit's index. */
export type Outcomes = Record<number, Outcome>;

/** A worker's write to a claimed batch. */
export interface OutcomeWrite {
  outcomes: Outcomes;
  part: Part | null;
  /** Present when the write ends the batch: when, and with the batch's own file or null. */
  end?: { file: StoredFile | null; at: number };
}

/** What a write adds to a batch: outcomes of units that had none, the parts and the counts after it. */
export interface Addition {
  fresh: Outcomes;
  parts: Part[];
  success: number;
  failed: number;
}

/** What is known of a batch before a write. */
export interface KnownBatch {
  total: number;
  outcomes: Outcomes;
  parts: Part[];
}

/**
 * Works out what a write adds to a batch. A unit keeps its first outcome, and its first record until the batch
 * ends, so that a write that is repeated counts nothing twice. The part of a write that ends the batch replaces
 * all others. Fault `internal` for a unit that is not in the batch, and for an end that leaves a unit outstanding.
 */
export function addOutcomes(batchId: string, batch: KnownBatch, write: OutcomeWrite): Addition {
  const { total, outcomes: known } = batch;
  const fresh: Outcomes = {};
  for (const [key, outcome] of Object.entries(write.outcomes)) {
    const index = Number(key);
    if (!(Number.isInteger(index) && index >= 0 && index < total))
      throw new Fault('internal', `batch ${batchId} has no unit ${key}`);
    if (!known[index]) fresh[index] = outcome;
  }
  const { success, failed } = countOutcomes(known, fresh);
  if (write.end && success + failed < total) {
    throw new Fault(
      'internal',
      `batch ${batchId} cannot end: ${total - success - failed} units are outstanding`,
    );
  }
  return { fresh, parts: addPart(batch.parts, fresh, write), success, failed };
}

function addPart(parts: Part[], fresh: Outcomes, { part, end }: OutcomeWrite): Part[] {
  if (part === null) return parts;
  if (end) return [part];
  const records = Object.fromEntries(
    Object.entries(part.records).filter(([index]) => fresh[Number(index)]?.status === 'SUCCESS'),
  );
  return Object.keys(records).length === 0 ? parts : [...parts, { ...part, records }];
}

/** Counts results and failures over sets of outcomes that share no unit. */
export function countOutcomes(...sets: Outcomes[]): { success: number; failed: number } {
  const all = sets.flatMap((set) => Object.values(set));
  const success = all.filter(({ status }) => status === 'SUCCESS').length;
  return { success, failed: all.length - success };
}

/** The outcomes of a batch of `total` units with `outcome` for each that had none. */
export function endOutstanding(total: number, known: Outcomes, outcome: Outcome): Outcomes {
  return Object.fromEntries(Array.from({ length: total }, (_, index) => [index, known[index] ?? outcome]));
}
