import type { Cursor } from '../store.ts';

/** What stands after a place in a list that is newest first, then by id, highest first. */
export function olderThan({ at, id }: Cursor) {
  return { $or: [{ createdAt: { $lt: at } }, { createdAt: at, _id: { $lt: id } }] };
}
