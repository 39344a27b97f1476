import { describe, expect, test } from 'vitest';
import {
  type Engines,
  embedded,
  openStacks,
  restartableStack,
  type Stack,
} from '../support/engines/engines.ts';
import { seedsOf } from '../support/run/seeds.ts';
import { formatCommand, shortRun } from './options.ts';
import { runChaos } from './run.ts';
import { formatTable } from './table.ts';

/** Opens the engines of a stack for each seed of its search. */
async function openRuns(name: 'embedded' | 'distributed', stack: Stack) {
  const seeds = seedsOf(`chaos-${name}`);
  const opened = await openStacks(seeds.map(() => stack));
  return opened.map(({ title, engines }, index) => {
    return { name, title, engines, options: shortRun(name, seeds[index]!) };
  });
}

const runs = [
  ...(await openRuns('embedded', embedded)),
  ...(await openRuns('distributed', restartableStack)),
];

async function expectInvariants(run: (typeof runs)[number], engines: Engines): Promise<void> {
  const story = [formatCommand(run.options, run.name)];
  try {
    const report = await runChaos(run.options, run.name, engines, (line) => story.push(line));
    expect(report.problems.list(), story.join('\n')).toEqual([]);
    expect(report.calls.accepted).toBeGreaterThan(0);
    expect(formatTable([report])).toContain(`| ${run.name} |`);
  } finally {
    await engines.stop();
  }
}

describe.concurrent.each(runs)('chaos: $title', (run) => {
  test.skipIf(run.engines === null)(
    `keeps every invariant, seed ${run.options.seed}`,
    { timeout: 1_200_000 },
    () => expectInvariants(run, run.engines!),
  );
});
