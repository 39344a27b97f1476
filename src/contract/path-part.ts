/**
 * Encodes text as a segment of a path or a value of a query. Halves of surrogate pairs, which no
 * address can contain, become U+FFFD.
 */
export function pathPart(text: string | number): string {
  return encodeURIComponent(String(text).toWellFormed());
}
