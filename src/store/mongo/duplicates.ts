import { MongoBulkWriteError, MongoServerError } from 'mongodb';

/** Awaits an insert or upsert. Returns null if a document with the same unique value exists. */
export async function unlessDuplicate<T>(write: Promise<T>): Promise<T | null> {
  try {
    return await write;
  } catch (thrown) {
    if (isDuplicate(thrown)) return null;
    throw thrown;
  }
}

/** Code of the error "deadlock detected" (40P01) of PostgreSQL, as engines built on it report it. */
export const deadlockCode = 16_908_292;

/**
 * Awaits the update that sets a unique value. Returns null if another document has or is about to have the value:
 * of several such updates, MongoDB repeats all but one until they meet a duplicate, engines on PostgreSQL roll them back.
 */
export async function unlessContended<T>(write: Promise<T>): Promise<T | null> {
  try {
    return await unlessDuplicate(write);
  } catch (thrown) {
    if (thrown instanceof MongoServerError && thrown.code === deadlockCode) return null;
    throw thrown;
  }
}

/** Returns whether the error reports only duplicate unique values. */
function isDuplicate(thrown: unknown): boolean {
  if (thrown instanceof MongoBulkWriteError) {
    return (
      [thrown.writeErrors].flat().every(({ code }) => code === 11_000) &&
      !thrown.result.getWriteConcernError()
    );
  }
  return thrown instanceof MongoServerError && thrown.code === 11_000;
}
