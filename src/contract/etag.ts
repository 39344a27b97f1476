/**
 * Returns true if an `If-None-Match` header names a tag, by weak comparison (RFC 9110, section 8.8.3.2). `*`
 * names every tag, an absent header none.
 */
export function namesTag(header: string | undefined, tag: string): boolean {
  if (header === undefined) return false;
  const wanted = opaque(tag);
  return header.split(',').some((given) => given.trim() === '*' || opaque(given.trim()) === wanted);
}

const opaque = (tag: string): string => tag.replace(/^W\//, '');
