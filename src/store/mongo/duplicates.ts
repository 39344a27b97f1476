import { setTimeout } from 'node:timers/promises';
import { MongoBulkWriteError, MongoServerError } from 'mongodb';
import { backOffMs } from '../../base/back-off.ts';

/** Code of the error of a duplicate unique value. */
export const duplicateCode = 11_000;
/**
 * Code of the error "deadlock detected" (40P01) of PostgreSQL, as engines built on it report it.
 */
export const deadlockCode = 16_908_292;
/** How often a statement is repeated that a deadlock rolled back. */
const deadlockRepeats = 6;
/**
 * Longest wait before a repeat. PostgreSQL rolls back one statement of a deadlock per second, and a
 * repeat before it is resolved joins it again.
 */
const deadlockWait = { firstMs: 1_000, maxMs: 32_000 };

/**
 * Runs an insert, or an update of a unique value. Returns null if a document with the same unique
 * value exists.
 *
 * Of concurrent writes of the same value, MongoDB repeats all but one until they meet a duplicate.
 * Engines on PostgreSQL roll them back as a deadlock, and they are repeated here.
 */
export async function unlessDuplicate<T>(write: () => Promise<T>): Promise<T | null> {
  for (let repeats = 0; ; repeats++) {
    try {
      return await write();
    } catch (thrown) {
      if (isDuplicate(thrown)) return null;
      if (repeats === deadlockRepeats || !isDeadlock(thrown)) throw thrown;
      await setTimeout(Math.random() * backOffMs(deadlockWait, repeats + 1, 0));
    }
  }
}

/** Returns whether a deadlock rolled a write back as a whole. */
export function isDeadlock(thrown: unknown): boolean {
  // A failed bulk write may have written some of its documents.
  if (!(thrown instanceof MongoServerError) || thrown instanceof MongoBulkWriteError) return false;
  // Engines on PostgreSQL report a deadlock of findAndModify as an internal error.
  return thrown.code === deadlockCode || /deadlock detected/.test(thrown.message);
}

/**
 * Returns the codes of the documents that a bulk write did not write. Empty for every other error.
 */
export function writeErrorCodes(thrown: unknown): unknown[] {
  if (thrown instanceof MongoBulkWriteError)
    return [thrown.writeErrors].flat().map(({ code }) => code);
  return [];
}

/**
 * Returns true if a bulk write failed without an answer of the server. The driver (7.9) reports
 * every such error, such as a lost connection, as a failed bulk write without failed documents.
 */
export const isUnanswered = (thrown: unknown): thrown is MongoBulkWriteError =>
  thrown instanceof MongoBulkWriteError &&
  writeErrorCodes(thrown).length === 0 &&
  typeof thrown.code !== 'number';

/** Returns true if the error reports only duplicate unique values. */
function isDuplicate(thrown: unknown): boolean {
  if (thrown instanceof MongoBulkWriteError) {
    const codes = writeErrorCodes(thrown);
    const isOnlyDuplicates = codes.length > 0 && codes.every((code) => code === duplicateCode);
    return isOnlyDuplicates && !thrown.result.getWriteConcernError();
  }
  if (!(thrown instanceof MongoServerError)) return false;
  // Engines on PostgreSQL report a duplicate of findAndModify as an internal error.
  return thrown.code === duplicateCode || /violates exclusion constraint/.test(thrown.message);
}
