import type { JsonObject } from '../base/json.ts';

/**
 * The entries that are not in `seen`, in order, each once; adds them to it. `name` names an entry; one
 * without a name (null) is known by all it holds. Listings shift between requests, so that the same
 * entry comes twice, and a page without a fresh entry is a listing's end.
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
