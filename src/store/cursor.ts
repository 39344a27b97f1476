import { Fault } from '../base/fault.ts';
import type { Cursor, Page, PageRequest } from './store.ts';

/** Before everything: where the first page starts. */
const start: Cursor = { at: Number.MAX_SAFE_INTEGER, id: '' };

/**
 * Reads the `after` of a page request: the last row of the page before, or a place before all rows.
 * The token has been in a client's hands: anything that is not one is an `invalid` fault.
 */
export function readCursor(page: PageRequest): Cursor {
  if (!page.after) return start;
  const parts = /^(\d{1,16}(?:\.\d{1,9})?)-(.+)$/s.exec(Buffer.from(page.after, 'base64url').toString());
  if (!parts)
    throw Fault.invalid(['body', 'page_token'], 'Value is not a page token of this list', 'value_error');
  return { at: Number(parts[1]), id: parts[2]! };
}

/** Rows to ask an engine for: one more than the page holds, to know whether there is a next one. */
export function rowsToRead(page: PageRequest): number {
  return Math.max(1, Math.floor(page.limit)) + 1;
}

/** Makes the page of what `rowsToRead` rows gave. `place` tells where an item stands in the list. */
export function toPage<T>(rows: T[], page: PageRequest, place: (item: T) => Cursor): Page<T> {
  const items = rows.slice(0, rowsToRead(page) - 1);
  const last = items.at(-1);
  if (rows.length === items.length || last === undefined) return { items, next: null };
  const { at, id } = place(last);
  return { items, next: Buffer.from(`${at}-${id}`).toString('base64url') };
}
