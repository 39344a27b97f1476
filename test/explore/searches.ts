import { globSync, readFileSync } from 'node:fs';
import { join, sep } from 'node:path';
import { formatCommand, type StackName, shortRun } from '../chaos/options.ts';
import type { MissingEngine } from '../engines/missing.ts';
import { findMongo } from '../engines/mongo.ts';
import { clusterStack } from '../support/engines/cluster-engines.ts';
import { restartableStack } from '../support/engines/engines.ts';
import { formatSeedCommand, type SearchName } from '../support/run/seeds.ts';
import { root } from '../support/service/service.ts';
import { isSchemathesisInstalled } from '../system/schemathesis/tool.ts';

/** A test that depends on a seed. */
export interface Search {
  name: SearchName;
  /** Stack that the search needs. Null: it runs with every choice of stacks. */
  stack: StackName | null;
  /**
   * Seconds that a run takes on an idle machine, at least. A search of zero is cheap: it has a turn
   * in each round. One of the others follows in each round, if the rest of the time is long enough.
   */
  minSeconds: number;
  formatCommand(seed: number): string;
  /** Returns why the search cannot run, or null. */
  findMissing(): Promise<string | null>;
}

/** Returns the test files that check properties, relative to the root folder. */
export const findPropertyTests = (): string[] =>
  globSync('{src,gateway,console,sandbox,deploy}/**/*.test.ts', { cwd: root })
    .filter((path) => !path.includes('node_modules'))
    .filter((path) => readFileSync(join(root, path), 'utf8').includes('checkProperty('))
    .map((path) => path.replaceAll(sep, '/'))
    .sort();

const nothing = async () => null;

/** Starts and stops engines. Returns why they are unavailable, or null. */
async function tryEngines(opening: Promise<{ stop(): Promise<unknown> } | MissingEngine>) {
  const opened = await opening;
  if ('missing' in opened) return opened.missing;
  await opened.stop();
  return null;
}

const formatChaos = (stack: StackName) => (seed: number) =>
  formatCommand(shortRun(stack, seed), stack);

/** All searches, in the order of their turns. */
export const searches: readonly Search[] = [
  {
    name: 'simulation',
    stack: null,
    minSeconds: 0,
    formatCommand: (seed) => `npm run simulate -- --seeds 10 --from ${seed}`,
    findMissing: nothing,
  },
  {
    name: 'properties',
    stack: null,
    minSeconds: 0,
    formatCommand: (seed) => formatSeedCommand(seed, findPropertyTests()),
    findMissing: nothing,
  },
  {
    name: 'pages',
    stack: null,
    minSeconds: 0,
    formatCommand: (seed) => formatSeedCommand(seed, ['src/markets/mutated-pages.test.ts']),
    findMissing: nothing,
  },
  {
    name: 'oracle',
    stack: null,
    minSeconds: 0,
    formatCommand: (seed) => formatSeedCommand(seed, ['test/oracle/oracle.test.ts']),
    findMissing: nothing,
  },
  {
    name: 'simulation-mongo',
    stack: 'distributed',
    minSeconds: 0,
    formatCommand: (seed) => `npm run simulate -- --seeds 3 --from ${seed} --mongo`,
    findMissing: () => tryEngines(findMongo()),
  },
  {
    name: 'chaos-embedded',
    stack: 'embedded',
    minSeconds: 90,
    formatCommand: formatChaos('embedded'),
    findMissing: nothing,
  },
  {
    name: 'chaos-distributed',
    stack: 'distributed',
    minSeconds: 120,
    formatCommand: formatChaos('distributed'),
    findMissing: () => tryEngines(restartableStack.open()),
  },
  {
    name: 'chaos-cluster',
    stack: 'cluster',
    minSeconds: 180,
    formatCommand: formatChaos('cluster'),
    findMissing: () => tryEngines(clusterStack.open()),
  },
  {
    name: 'schemathesis',
    stack: null,
    minSeconds: 180,
    formatCommand: (seed) =>
      formatSeedCommand(seed, ['test/system/schemathesis/schemathesis.test.ts']),
    findMissing: async () =>
      isSchemathesisInstalled()
        ? null
        : 'npm run test:system -- schemathesis installs Schemathesis',
  },
];
