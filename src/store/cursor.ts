import { Fault } from '../contract/fault.ts';

/** A page of a list, newest first. `next` is the cursor of the next page, null on the last one. */
export interface Page<T> {
  items: T[];
  next: string | null;
}

/** Options for a page of a list. `after` is the `next` of the previous page. */
export interface PageOptions {
  limit: number;
  after?: string | null;
}

/** Position in a list that is ordered by a time, then by id. */
export interface Cursor {
  at: number;
  id: string;
}

/** Position before the first page of a list that is newest first. */
const start: Cursor = { at: Number.MAX_SAFE_INTEGER, id: '' };

/**
 * Parses the `after` of a page request. Throws an `invalid` fault for a token that is not a cursor,
 * since clients send it.
 */
export function readCursor(page: PageOptions): Cursor {
  if (!page.after) return start;
  const cursor = parseCursor(page.after);
  if (cursor === null) throw notAToken();
  return cursor;
}

/** Returns the text of a cursor, which is safe in URLs. */
export const cursorText = ({ at, id }: Cursor) => `${at}-${Buffer.from(id).toString('base64url')}`;

/** Parses the text of a cursor. Returns null for other text. */
export function parseCursor(text: string): Cursor | null {
  const parts = /^(\d{1,16}(?:\.\d{1,9})?)-([\w-]+)$/.exec(text);
  if (!parts) return null;
  return { at: Number(parts[1]), id: Buffer.from(parts[2]!, 'base64url').toString() };
}

/**
 * Returns the page token of a place in a list that is not ordered by time: an index, and a position
 * in what it names.
 */
export const placeToken = (index: number, position = 0) => `${index}.${position}`;

/**
 * Parses the token of placeToken(); the first place without one. Throws an `invalid` fault for
 * another token.
 */
export function readPlace(token: string | null | undefined): [index: number, position: number] {
  if (!token) return [0, 0];
  const parts = /^(\d{1,9})\.(\d{1,9})$/.exec(token);
  if (parts === null) throw notAToken();
  return [Number(parts[1]), Number(parts[2])];
}

const notAToken = () =>
  Fault.invalid(['body', 'page_token'], 'Value is not a page token of this list', 'value_error');

/** Returns the number of rows to query: one more than the page, to detect a next page. */
export function rowsToRead(page: PageOptions): number {
  return Math.max(1, Math.floor(page.limit)) + 1;
}

/** Builds the page from up to `rowsToRead` rows. `cursorOf` returns the position of an item. */
export function toPage<T>(rows: T[], page: PageOptions, cursorOf: (item: T) => Cursor): Page<T> {
  const items = rows.slice(0, rowsToRead(page) - 1);
  const last = items.at(-1);
  if (rows.length === items.length || last === undefined) return { items, next: null };
  return { items, next: cursorText(cursorOf(last)) };
}

/** Yields every page of a list, in order. `read` returns one page. */
export async function* pagesOf<T>(
  read: (page: PageOptions) => Promise<Page<T>>,
  limit: number,
): AsyncGenerator<Page<T>, void, void> {
  let after: string | null = null;
  do {
    const page: Page<T> = await read({ limit, after });
    yield page;
    after = page.next;
  } while (after !== null);
}

/**
 * Yields every item of a list, in order. Reads a page of up to `limit` items at a time, when its
 * first one is needed.
 */
export async function* allOf<T>(
  read: (page: PageOptions) => Promise<Page<T>>,
  limit: number,
): AsyncGenerator<T, void, void> {
  for await (const { items } of pagesOf(read, limit)) yield* items;
}
