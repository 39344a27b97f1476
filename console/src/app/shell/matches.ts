/**
 * Returns whether a text contains every word of a search term, ignoring case. In a file of its own,
 * so that its test loads no page.
 */
export function matches(term: string, text: string): boolean {
  const lower = text.toLowerCase();
  return term
    .toLowerCase()
    .split(/\s+/)
    .every((word) => lower.includes(word));
}
