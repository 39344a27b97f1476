/**
 * Splits a sequence into arrays of `size` elements; the last one may be shorter. Reads one array
 * ahead at most.
 */
export function* inChunks<T>(source: Iterable<T>, size: number): Iterable<T[]> {
  let chunk: T[] = [];
  for (const element of source) {
    chunk.push(element);
    if (chunk.length < size) continue;
    yield chunk;
    chunk = [];
  }
  if (chunk.length > 0) yield chunk;
}
