import { globSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { slack } from './test/support/time/until.ts';

/**
 * Suites of the distributed stack, which the system tier repeats on the MongoDB engine at
 * MONGODB_TEST_URI.
 */
const distributed = ['src/store/mongo/**/*.test.ts', 'test/e2e/distributed.test.ts'];

const root = import.meta.dirname;
const besideCode = '{src,clients,gateway,console,sandbox,deploy}/**/*.test.ts';

/** Returns the suites beside the code whose text matches a pattern. */
const suitesWith = (pattern: RegExp) =>
  globSync(besideCode, { cwd: root, exclude: ['**/node_modules/**'] }).filter((name) =>
    pattern.test(readFileSync(join(root, name), 'utf8')),
  );

/** The suites that use engines which run as processes. */
const engines = [
  'src/{store/mongo,queue/jetstream,blobs/s3}/**/*.test.ts',
  ...suitesWith(/\/test\/(?:engines\/\w+|support\/engines\/stores)\.ts'/),
];

/**
 * Suites that repeat a course with a fault at each of its calls, or a page with a change of each of
 * its parts: searches for defects, not units.
 */
const sweeps = suitesWith(
  /\/test\/support\/(?:faults\/crash|pages\/(?:hostile-pages|page-mutations))\.ts'/,
);

/** Suites that lose each message to NATS, and each request to S3. */
const lostMessages = ['src/{queue,blobs}/**/lost-*.test.ts', 'src/notify/file-crash.test.ts'];

/**
 * Suites of the system tier: programs that others wrote, browsers among them, installed packages,
 * and faults of processes and engines.
 */
const system = [
  'test/{system,faults,browser}/**/*.test.ts',
  'test/chaos/chaos.test.ts',
  ...lostMessages,
];

/** Suites of the console in a browser, which belong to the system tier. */
const browser = ['test/console/**/*.test.ts'];

/** Suites of more than half a minute: at the end of a run, the others would be done before them. */
const long =
  /\/(?:src\/jobs\/steps\/crash|test\/(?:(?:browser|console)\/pages|chaos\/chaos|conformance\/conformance|sandbox\/sandbox|observability\/metrics|faults\/\w+|system\/(?:cluster|installed|setup|extension\/\w+|schemathesis\/\w+|versions\/\w+)))\.test\.ts$/;

/** Starts the long suites first. */
class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => (long.test(moduleId) ? 0 : 1);
    return (await super.sort(files)).toSorted((one, other) => rank(one) - rank(other));
  }
}

export default defineConfig({
  test: {
    // Suites that start processes and engines take longer than unit tests.
    testTimeout: 60_000 * slack,
    hookTimeout: 120_000 * slack,
    pool: 'forks',
    // Node loads the sources itself, as it does for the service, in half of the time.
    experimental: { viteModuleRunner: false },
    globalSetup: ['test/support/run/temporary-folder.ts', 'test/engines/broker.ts'],
    // Files share processes: loading the program takes longer than most of them.
    isolate: false,
    setupFiles: ['test/support/run/restore-process.ts'],
    // Much of what the suites wait for is time, not work.
    maxWorkers: availableParallelism() + 2,
    sequence: { sequencer: LongFirst },
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: [besideCode],
          exclude: [...engines, ...sweeps, ...lostMessages, '**/node_modules/**'],
        },
      },
      { extends: true, test: { name: 'engines', include: engines, exclude: lostMessages } },
      {
        extends: true,
        test: {
          name: 'suites',
          include: ['test/**/*.test.ts', ...sweeps],
          exclude: ['**/fixture/**', ...browser, ...engines, ...system],
        },
      },
      { extends: true, test: { name: 'browser', include: browser } },
      {
        extends: true,
        test: {
          name: 'system',
          include: [...system, ...(process.env.MONGODB_TEST_URI ? distributed : [])],
          exclude: ['**/fixture/**'],
          isolate: true,
        },
      },
    ],
  },
});
