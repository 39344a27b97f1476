/**
 * Returns true if an `If-None-Match` header names a tag, by weak comparison (RFC 9110, section
 * 8.8.3.2). `*` names every tag.
 */
export function namesTag(header: string, tag: string): boolean {
  const opaqueTag = opaque(tag);
  return header
    .split(',')
    .some((candidate) => candidate.trim() === '*' || opaque(candidate.trim()) === opaqueTag);
}

/**
 * Returns true if an `If-Match` header rules out a tag, by strong comparison (RFC 9110, section
 * 13.1.1). An absent header and `*` rule out none.
 */
export function excludesTag(header: string | undefined, tag: string): boolean {
  if (header === undefined) return false;
  const isNamed = (candidate: string) =>
    candidate === '*' || (candidate === tag && !tag.startsWith('W/'));
  return !header.split(',').some((candidate) => isNamed(candidate.trim()));
}

const opaque = (tag: string): string => tag.replace(/^W\//, '');
