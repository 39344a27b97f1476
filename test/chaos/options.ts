import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';
import { maxSeed } from '../support/run/seeds.ts';

/** Names of the stacks that the command runs on. */
export const stackNames = ['embedded', 'distributed', 'cluster'] as const;

export type StackName = (typeof stackNames)[number];

/** Options of a run. The seed decides which faults affect which process, and when. */
export interface ChaosOptions {
  stacks: readonly StackName[];
  jobs: number;
  /** Items of each large job. Jobs for listings and single pages are smaller. */
  items: number;
  kills: number;
  /** Duration of a freeze in seconds, longer than the lease of a batch. */
  freezeSeconds: number;
  seed: string;
}

export const usage = `usage: npm run chaos -- [--jobs 24] [--items 200] [--kills 12] [--freeze-seconds 20] [--seed S]
       [--stack embedded|distributed|both|cluster]`;

/** Parses the command line. Throws an Error that names the flag and the value. */
export function parseOptions(parameters: readonly string[]): ChaosOptions {
  const { values } = parseArgs({
    args: [...parameters],
    options: {
      jobs: { type: 'string', default: '24' },
      items: { type: 'string', default: '200' },
      kills: { type: 'string', default: '12' },
      'freeze-seconds': { type: 'string', default: '20' },
      seed: { type: 'string', default: String(randomInt(1, maxSeed)) },
      stack: { type: 'string', default: 'both' },
    },
  });
  return {
    stacks: parseStacks(values.stack),
    jobs: parseCount('jobs', values.jobs, 1, 10_000),
    items: parseCount('items', values.items, 1, 2_000),
    kills: parseCount('kills', values.kills, 0, 1_000),
    freezeSeconds: parseCount('freeze-seconds', values['freeze-seconds'], 1, 600),
    seed: values.seed,
  };
}

/** Parses the value of `--stack`. Throws an Error for one that names no stack. */
export function parseStacks(text: string): StackName[] {
  const stacks = stackNames.filter(
    (name) => name === text || (text === 'both' && name !== 'cluster'),
  );
  if (stacks.length === 0)
    throw new Error(`--stack: "${text}" is not one of embedded, distributed, both, cluster`);
  return stacks;
}

/** Parses the value of an option. Throws an Error that names the option and the range. */
export function parseCount(name: string, text: string, min: number, max: number): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < min || value > max)
    throw new Error(`--${name}: "${text}" is not an integer from ${min} to ${max}`);
  return value;
}

const shortRuns: Readonly<Record<StackName, Omit<ChaosOptions, 'stacks' | 'seed'>>> = {
  embedded: { jobs: 4, items: 120, kills: 3, freezeSeconds: 3 },
  distributed: { jobs: 4, items: 120, kills: 2, freezeSeconds: 3 },
  // Freezes end before a lease does.
  cluster: { jobs: 8, items: 40, kills: 10, freezeSeconds: 3 },
};

/** Returns the options of a run of a few minutes, as in the system tier. */
export function shortRun(stack: StackName, seed: number): ChaosOptions {
  return { ...shortRuns[stack], stacks: [stack], seed: String(seed) };
}

/** Formats the parameters of a run on one stack. */
export function formatParameters(options: ChaosOptions, stack: StackName): string[] {
  const { jobs, items, kills, freezeSeconds, seed } = options;
  const values = { jobs, items, kills, 'freeze-seconds': freezeSeconds, seed, stack };
  return Object.entries(values).flatMap(([name, value]) => [`--${name}`, `${value}`]);
}

/** Formats the command that repeats a run on one stack. */
export function formatCommand(options: ChaosOptions, stack: StackName): string {
  return `npm run chaos -- ${formatParameters(options, stack).join(' ')}`;
}
