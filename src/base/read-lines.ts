/**
 * Splits UTF-8 text into lines at "\n" only: JSON texts may contain other line separators. Yields
 * the lines without their ends; the last one only if it is not empty.
 */
export async function* linesOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  let open: Uint8Array[] = [];
  for await (const chunk of chunks) {
    let from = 0;
    for (let end = chunk.indexOf(newline); end >= 0; end = chunk.indexOf(newline, from)) {
      yield textOf(open, chunk.subarray(from, end));
      open = [];
      from = end + 1;
    }
    // Copied: the producer may reuse its buffer.
    if (from < chunk.length) open.push(chunk.slice(from));
  }
  if (open.length > 0) yield textOf(open.slice(0, -1), open.at(-1)!);
}

const newline = 0x0a;

function textOf(open: readonly Uint8Array[], last: Uint8Array): string {
  if (open.length === 0) return decode(last);
  return Buffer.concat([...open, last]).toString();
}

const decode = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString();
