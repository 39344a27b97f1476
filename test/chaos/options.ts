import { parseArgs } from 'node:util';

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
      seed: { type: 'string', default: String(Date.now() % 1_000_000) },
      stack: { type: 'string', default: 'both' },
    },
  });
  const stacks = stackNames.filter(
    (name) => name === values.stack || (values.stack === 'both' && name !== 'cluster'),
  );
  if (stacks.length === 0)
    throw new Error(`--stack: "${values.stack}" is not one of embedded, distributed, both, cluster`);
  return {
    stacks,
    jobs: parseCount('jobs', values.jobs, 1, 10_000),
    items: parseCount('items', values.items, 1, 2_000),
    kills: parseCount('kills', values.kills, 0, 1_000),
    freezeSeconds: parseCount('freeze-seconds', values['freeze-seconds'], 1, 600),
    seed: values.seed,
  };
}

function parseCount(name: string, text: string, min: number, max: number): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < min || value > max)
    throw new Error(`--${name}: "${text}" is not an integer from ${min} to ${max}`);
  return value;
}

/** Formats the command that repeats a run on one stack. */
export function formatCommand(options: ChaosOptions, stack: StackName): string {
  const { jobs, items, kills, freezeSeconds, seed } = options;
  return `npm run chaos -- --jobs ${jobs} --items ${items} --kills ${kills} --freeze-seconds ${freezeSeconds} --seed ${seed} --stack ${stack}`;
}
