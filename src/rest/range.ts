/** Range of a file: bytes `start` to `end`, both inclusive; the whole; or none of its bytes. */
export type Range =
  | { kind: 'part'; start: number; end: number }
  | { kind: 'whole' }
  | { kind: 'unsatisfiable' };

/**
 * Parses a Range header for a file of `size` bytes. One that is malformed, of another unit or of several ranges is
 * ignored (RFC 9110, section 14.2).
 */
export function parseRange(header: string | undefined, size: number): Range {
  const match = /^bytes=\s*(\d*)\s*-\s*(\d*)\s*$/i.exec(header ?? '');
  if (match === null || (match[1] === '' && match[2] === '')) return { kind: 'whole' };
  const [first, last] = [match[1]!, match[2]!];
  if (first === '') {
    const length = Math.min(Number(last), size);
    return length === 0 ? { kind: 'unsatisfiable' } : { kind: 'part', start: size - length, end: size - 1 };
  }
  const start = Number(first);
  if (last !== '' && Number(last) < start) return { kind: 'whole' };
  if (start >= size) return { kind: 'unsatisfiable' };
  return { kind: 'part', start, end: last === '' ? size - 1 : Math.min(Number(last), size - 1) };
}
