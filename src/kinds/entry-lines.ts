import type { FileEntry } from './kind.ts';

/**
 * Yields the entries of a unit's file. In the file, each entry has its own line, and every other line ends
 * with the name of the list that follows. `section` counts those lists from 0.
 */
export async function* entryLines(
  lines: AsyncIterable<string>,
): AsyncGenerator<FileEntry & { section: number }> {
  let section = -1;
  let list = '';
  for await (const line of lines) {
    const opened = /"([^"]+)":\[$/.exec(line);
    if (opened !== null) {
      section++;
      list = opened[1]!;
    } else if (line.startsWith('{'))
      yield { section, list, text: line.endsWith(',') ? line.slice(0, -1) : line };
  }
}
