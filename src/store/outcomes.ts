import { Fault } from '../base/fault.ts';
import type { Batch, Outcome, StoredFile } from './documents.ts';
import type { Payload } from './store.ts';

/** Bytes of a payload at most, in every store: MongoDB keeps documents of up to 16 MiB. */
export const maxPayloadBytes = 16_000_000;

/** Outcomes of a batch by the unit's index. */
export type Outcomes = Record<number, Outcome>;

/** A worker's write to a claimed batch. */
export interface OutcomeWrite {
  outcomes: Outcomes;
  payloads: readonly Payload[];
  /** Present when the write ends the batch: when, and with the batch's own file or null. */
  end?: { file: StoredFile | null; at: number };
}

/** What a write adds to a batch: outcomes of units that had none, payloads of those with a result, counts after it. */
export interface Addition {
  fresh: Outcomes;
  payloads: Payload[];
  success: number;
  failed: number;
}

/**
 * Works out what a write adds to a batch of `total` units that has `known` outcomes. A unit keeps
 * its first outcome, so that a write that is repeated counts nothing twice. Fault `internal` for a
 * unit that is not in the batch, and for an end that leaves a unit outstanding; `too_large` for a payload of more than
 * `maxPayloadBytes`.
 */
export function addOutcomes(batchId: string, total: number, known: Outcomes, write: OutcomeWrite): Addition {
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
  const payloads = write.payloads.filter(({ index }) => fresh[index]?.status === 'SUCCESS');
  const large = payloads.find(({ body }) => body.byteLength > maxPayloadBytes);
  if (large) {
    throw new Fault(
      'too_large',
      `unit ${large.index} of batch ${batchId}: payload of ${large.body.byteLength} bytes, the maximum is ${maxPayloadBytes}`,
    );
  }
  return { fresh, payloads, success, failed };
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

/** Attempt under which a unit's payload was written; null where it has none. */
export function attemptOf(batch: Batch, index: number): number | null {
  const outcome = batch.outcomes[index];
  return outcome?.status === 'SUCCESS' ? outcome.attempt : null;
}
