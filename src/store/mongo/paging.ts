import type { FindCursor } from 'mongodb';
import { type Cursor, type Page, type PageOptions, readCursor, rowsToRead, toPage } from '../cursor.ts';

/**
 * Returns a filter for the documents of a page and the following ones in a list that is newest first. Throws
 * an `invalid` fault for a token that is not a cursor.
 */
export function olderThan(page: PageOptions) {
  const { at, id } = readCursor(page);
  return { $or: [{ createdAt: { $lt: at } }, { createdAt: at, _id: { $lt: id } }] };
}

/** Returns the position of a document in a list that is newest first. */
const positionOf = ({ createdAt, id }: { createdAt: number; id: string }): Cursor => ({ at: createdAt, id });

/** Reads a page of a list that is newest first. The query's filter includes olderThan(). */
export async function readNewest<D, T extends { createdAt: number; id: string }>(
  found: FindCursor<D>,
  page: PageOptions,
  read: (document: D) => T,
): Promise<Page<T>> {
  const documents = await found.sort({ createdAt: -1, _id: -1 }).limit(rowsToRead(page)).toArray();
  return toPage(documents.map(read), page, positionOf);
}
