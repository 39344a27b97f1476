import type { JsonObject } from '../base/json.ts';

/**
 * Returns the entries that are not in `seen`, in order and without duplicates, and adds them to `seen`.
 * `idOf` returns an entry's id; an entry without one (null) is compared as a whole. Listings shift between
 * requests, so entries repeat; a page without a new entry is the end of a listing.
 */
export function newEntries(
  entries: readonly JsonObject[],
  seen: Set<string>,
  idOf: (entry: JsonObject) => string | null,
): JsonObject[] {
  return entries.filter((entry) => {
    const id = idOf(entry) ?? JSON.stringify(entry);
    if (seen.has(id)) return false;
    seen.add(id);
    return true;
  });
}
