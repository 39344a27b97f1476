/** Reads the first `maxLines` lines of JSON Lines and cancels the rest. */
export async function readLines(
  bytes: ReadableStream<Uint8Array<ArrayBuffer>>,
  maxLines: number,
): Promise<unknown[]> {
  const reader = bytes.pipeThrough(new TextDecoderStream()).getReader();
  const lines: string[] = [];
  let rest = '';
  while (lines.length < maxLines) {
    const { done, value } = await reader.read();
    const parts = (rest + (value ?? '')).split('\n');
    rest = done ? '' : parts.pop()!;
    lines.push(...parts.filter((line) => line !== ''));
    if (done) break;
  }
  await reader.cancel();
  return lines.slice(0, maxLines).map((line) => JSON.parse(line));
}
