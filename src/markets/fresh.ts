import type { JsonObject } from '../base/json.ts';

/**
 * Returns the entries that are not in `seen`, in order and without duplicates, and adds them to `seen`.
 * `idOf` returns an entry's id; an entry without one (null) is compared as a whole. Listings shift between
 * requests, so entries repeat; a page without a new entry is the end of a listing.
 */
export function fresh(
  entries: readonly JsonObject[],
  seen: Set<string>,
  name: (entry: JsonObject) => string | null,
): JsonObject[] {
  return entries.filter((entry) => {
    const known = name(entry) ?? JSON.stringify(entry);
    if (seen.has(known)) return false;
    seen.add(known);
    return true;
  });
}
