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
