import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { anonymousMemoryBytes } from './heap-size.ts';

/**
 * Retains 100 MB of small objects, one megabyte at a time, and prints the size of the young
 * generation in MB. Collections are reported some turns later, so twenty turns pass after each
 * megabyte.
 */
const program = (start: string) => `
  import v8 from 'node:v8';
  import { ${start} } from ${JSON.stringify(new URL('./heap-size.ts', import.meta.url).href)};
  ${start}();
  const kept = [];
  for (let step = 0; step < 100; step++) {
    kept.push(Array.from({ length: 16_000 }, (_, index) => ({ step, index, text: 'x' + index })));
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
  }
  const { space_size } = v8.getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space');
  console.log(space_size / 1024 ** 2, kept.length);`;

async function youngGenerationMb(start: string): Promise<number> {
  const run = promisify(execFile);
  const { stdout } = await run(process.execPath, ['--input-type=module', '-e', program(start)]);
  return Number(stdout.split(' ')[0]);
}

test('limitHeapGrowth() keeps the young generation small while objects survive', async () => {
  // V8 doubles the size while objects survive collections, to 64 or 128 MB.
  const unlimited = await youngGenerationMb('releaseYoungGeneration');
  // The limit is 8 MB, but the size can double until a collection is reported: to 33 MB on a busy
  // machine.
  expect(await youngGenerationMb('limitHeapGrowth')).toBeLessThan(unlimited);
});

test.skipIf(process.platform !== 'linux')(
  'anonymousMemoryBytes() leaves out the pages of the program',
  () => {
    const rssBytes = process.memoryUsage.rss();
    expect(anonymousMemoryBytes()).toBeLessThan(rssBytes - 20e6);
    expect(anonymousMemoryBytes()).toBeGreaterThan(process.memoryUsage().heapUsed / 2);
  },
);
