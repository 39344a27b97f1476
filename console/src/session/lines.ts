/** Reads the first `maxLines` lines of a JSON Lines response and cancels the rest. */
export async function readLines(response: Response, maxLines: number): Promise<unknown[]> {
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
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
