/**
 * Yields the mapped values of a source in order, and maps up to `maxAhead` further values meanwhile. The
 * first values are not mapped ahead, so that a consumer that stops early has requested few more than it
 * needed.
 */
export async function* prefetch<Value, Mapped>(
  source: AsyncIterable<Value>,
  maxAhead: number,
  map: (value: Value) => Promise<Mapped>,
): AsyncGenerator<Mapped> {
  const pending: Promise<Mapped>[] = [];
  let yielded = 0;
  for await (const value of source) {
    const mapped = map(value);
    // Rejections are thrown in order. Those after the last value that is consumed concern nobody.
    mapped.catch(() => {});
    pending.push(mapped);
    if (pending.length <= Math.min(yielded, maxAhead)) continue;
    yield await pending.shift()!;
    yielded += 1;
  }
  for (const mapped of pending) yield await mapped;
}

/** A source of which the first value was read. */
interface BegunSource<Value> extends AsyncIterableIterator<Value> {
  return(): Promise<IteratorResult<Value>>;
}

/**
 * Reads the first value of a source, so that its error is thrown here and can be a response. Returns the
 * whole source, which the caller must read to its end or close with `return`.
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
