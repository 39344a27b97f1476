import { parseArgs } from 'node:util';
import { parseCount, parseStacks, type StackName } from '../chaos/options.ts';
import { parseSeed } from '../support/run/seeds.ts';

/** Options of a run. */
export interface ExploreOptions {
  minutes: number;
  stacks: readonly StackName[];
  /** Seed of the first search, from which those of the others are derived. Null: a random one. */
  seed: number | null;
}

export const usage = `usage: npm run explore -- [--minutes 10] [--stack embedded|distributed|both|cluster] [--seed S]

Runs the tests that depend on a seed with new seeds, until the time is over. Exits with 1 if one fails.`;

/** Parses the command line. Throws an Error that names the option and the value. */
export function parseOptions(parameters: readonly string[]): ExploreOptions {
  const { values } = parseArgs({
    args: [...parameters],
    options: {
      minutes: { type: 'string', default: '10' },
      stack: { type: 'string', default: 'embedded' },
      seed: { type: 'string' },
    },
  });
  return {
    minutes: parseCount('minutes', values.minutes, 1, 1_440),
    stacks: parseStacks(values.stack),
    seed: values.seed === undefined ? null : parseSeed('--seed', values.seed),
  };
}
