import type { Cursor } from '../cursor.ts';

/** Returns a filter for the items after a cursor in a list that is newest first. */
export function olderThan({ at, id }: Cursor) {
  return { $or: [{ createdAt: { $lt: at } }, { createdAt: at, _id: { $lt: id } }] };
}
