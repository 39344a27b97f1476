import { describe, expect, test } from 'vitest';
import { embedded, openStacks, restartableStack } from '../support/engines.ts';
import { createSeededRandom } from '../support/seeded-random.ts';
import { runChaos } from './run.ts';
import { formatTable } from './table.ts';

const { seed } = createSeededRandom();
const opened = await openStacks([embedded, restartableStack]);

describe.concurrent.each(opened)('chaos: $title', ({ engines, distributed }) => {
  test.skipIf(engines === null)(`keeps every invariant, seed ${seed}`, { timeout: 1_200_000 }, async () => {
    const stack = distributed ? 'distributed' : 'embedded';
    const kills = distributed ? 2 : 3;
    const options = { stacks: [stack] as const, jobs: 4, items: 120, kills, freezeSeconds: 3, seed };
    const story: string[] = [];
    try {
      const report = await runChaos(options, stack, engines!, (line) => story.push(line));
      expect(report.problems.list(), story.join('\n')).toEqual([]);
      expect(report.calls.accepted).toBeGreaterThan(0);
      expect(formatTable([report])).toContain(`| ${stack} |`);
    } finally {
      await engines!.stop();
    }
  });
});
