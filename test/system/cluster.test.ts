import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { formatParameters, shortRun } from '../chaos/options.ts';
import { findEngine } from '../engines/missing.ts';
import { clusterStack } from '../support/engines/cluster-engines.ts';
import { seedsOf } from '../support/run/seeds.ts';
import { root, run } from '../support/service/service.ts';

const { MONGODB_TEST_URI: second, HOME = '', VITEST_POOL_ID = '' } = process.env;
const engines = await findEngine(clusterStack.open());
if (!('missing' in engines)) await engines.stop();
const missing = 'missing' in engines ? ` (${engines.missing})` : '';
/** Longer than the run waits for its jobs, so that it can report those that have not ended. */
const timeoutMs = 900_000;

const databases = [
  { name: 'the test engine of MongoDB', uri: undefined },
  ...(second ? [{ name: 'the engine at MONGODB_TEST_URI', uri: second }] : []),
];

const runs = seedsOf('chaos-cluster').flatMap((seed) =>
  databases.map((database) => ({ ...database, seed })),
);

describe.skipIf(missing !== '')(`a cluster of engines${missing}`, () => {
  test.each(runs)(
    'keeps every invariant on $name while each server is killed and frozen, seed $seed',
    async ({ uri, seed }) => {
      const options = formatParameters(shortRun('cluster', seed), 'cluster');
      const chaos = [join(root, 'test/chaos/main.ts'), ...options];
      // The run has the ports of this file (test/engines/ports.ts).
      const environment = { HOME, VITEST_POOL_ID, ...(uri ? { MONGODB_TEST_URI: uri } : {}) };
      const { code, stdout, stderr } = await run(
        process.execPath,
        chaos,
        environment,
        root,
        timeoutMs,
      );
      expect(code, `${stdout}${stderr}`.slice(-8_000)).toBe(0);
      expect(stdout).toMatch(/^1 passed, 0 failed$/m);
    },
    timeoutMs + 30_000,
  );
});
