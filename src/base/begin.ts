/**
 * Reads the first value of a source, so that its error is thrown here and can be a response. Returns the whole
 * source.
 */
export async function begin<Value>(source: AsyncIterable<Value>): Promise<AsyncGenerator<Value>> {
  const values = source[Symbol.asyncIterator]();
  const first = await values.next();
  return (async function* () {
    try {
      for (let next = first; !next.done; next = await values.next()) yield next.value;
    } finally {
      await values.return?.();
    }
  })();
}
