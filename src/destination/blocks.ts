/**
 * Combines chunks into blocks of exactly `size` bytes, except for the last one, which may be shorter. An empty file has
 * one empty block. Yielded blocks are reused: use one before the next is requested.
 */
export async function* fixedBlocks(
  chunks: AsyncIterable<Uint8Array>,
  size: number,
): AsyncGenerator<{ block: Buffer; isLast: boolean }> {
  const block = Buffer.allocUnsafeSlow(size);
  let filled = 0;
  for await (const chunk of chunks) {
    for (let start = 0; start < chunk.byteLength; ) {
      // A full block is yielded only once more bytes follow, so that the last one is known.
      if (filled === size) {
        yield { block, isLast: false };
        filled = 0;
      }
      const part = chunk.subarray(start, start + size - filled);
      block.set(part, filled);
      filled += part.byteLength;
      start += part.byteLength;
    }
  }
  yield { block: block.subarray(0, filled), isLast: true };
}
