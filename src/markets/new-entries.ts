import type { JsonObject } from '../base/json.ts';
import { Fault } from '../contract/fault.ts';
import { text } from './fields.ts';

/**
 * Throws `page_unreadable` for a first page without entries if the site states how many there are:
 * a silent refusal, or a list in another place than expected.
 */
export function checkNoEntries(total: number | null): void {
  if (total !== null && total > 0) {
    throw new Fault('page_unreadable', `the site states ${total} products and lists none`);
  }
}

/**
 * Returns the entries with a title or a price. Markup without both is a placeholder, not a product.
 * Throws `page_unreadable` if there are entries and none has one.
 */
export function withTitleOrPrice(entries: readonly JsonObject[], remedy = ''): JsonObject[] {
  const products = entries.filter(
    ({ title, price }) => text(title) !== null || text(price) !== null,
  );
  if (entries.length > 0 && products.length === 0) {
    throw new Fault(
      'page_unreadable',
      `none of the ${entries.length} entries of the list has a title or a price${remedy}`,
    );
  }
  return products;
}

/**
 * Returns the entries that are not in `seen`, in order and without duplicates, and adds them to
 * `seen`. `idOf` returns an entry's id; an entry without one (null) is no product and is left out.
 * Listings shift between requests, so entries repeat; a page without a new entry is the end of a
 * listing. Throws `page_unreadable` if no entry has an id.
 */
export function newEntries(
  entries: readonly JsonObject[],
  seen: Set<string>,
  idOf: (entry: JsonObject) => string | null,
): JsonObject[] {
  const ids = entries.map(idOf);
  if (ids.length > 0 && ids.every((id) => id === null)) {
    throw new Fault('page_unreadable', 'no entry of the list has an id');
  }
  return entries.filter((_, at) => {
    const id = ids[at] ?? null;
    if (id === null || seen.has(id)) return false;
    seen.add(id);
    return true;
  });
}
