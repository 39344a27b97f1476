/** A source of which the first value was read. */
interface BegunSource<Value> extends AsyncIterableIterator<Value> {
  return(): Promise<IteratorResult<Value>>;
}

/**
 * Reads the first value of a source, so that its error is thrown here and can be a response.
 * Returns the whole source, which the caller must read to its end or close with `return`.
 */
export async function begin<Value>(source: AsyncIterable<Value>): Promise<BegunSource<Value>> {
  const values = source[Symbol.asyncIterator]();
  let first: IteratorResult<Value> | undefined = await values.next();
  const begun: BegunSource<Value> = {
    [Symbol.asyncIterator]: () => begun,
    async next() {
      const next = first ?? (await values.next());
      first = undefined;
      return next;
    },
    async return() {
      await values.return?.();
      return { done: true, value: undefined };
    },
  };
  return begun;
}
