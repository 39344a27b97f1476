import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { openStacks, stacks } from '../support/engines/engines.ts';
import { formatSeedCommand, seedsOf } from '../support/run/seeds.ts';
import { createApi, type TestApi } from '../support/service/api.ts';
import { createDeployment, type Deployment } from '../support/service/deployment.ts';
import { runOracle } from './run.ts';
import { type Shop, startShop } from './shop.ts';

/** Jobs of a run take some tenths of a second each. */
const steps = 8;

const dayMs = 86_400_000;

describe.each(await openStacks(stacks))('$title', ({ engines, distributed }) => {
  let shop: Shop;
  let deployment: Deployment;
  let api: TestApi;
  beforeAll(async () => {
    if (engines === null) return;
    shop = await startShop();
    const origins = { config: { mktf: { allow_private: true, robots: false } } };
    const settings = { GLEANER_PRIVATE: 'on', GLEANER_APPROVAL: 'off' };
    deployment = await createDeployment({ stack: { distributed }, engines, origins, settings });
    await deployment.start();
    api = createApi(deployment);
    return async () => {
      await deployment.stop();
      await shop.stop();
    };
  });
  afterAll(() => engines?.stop());

  test.skipIf(engines === null).concurrent.each(seedsOf('oracle'))(
    'histories and changes agree with the model for seed %i',
    async (seed) => {
      const differences = await runOracle({ seed, steps, api, shop });
      const command = formatSeedCommand(seed, ['test/oracle/oracle.test.ts']);
      expect(differences, command).toEqual([]);
    },
  );

  // The distributed stack takes the time from its database.
  if (!distributed)
    test('histories agree with the model when observations have expired', async () => {
      const hostNow = Date.now;
      // After a step of its clock, a service that runs deletes nothing for a while.
      const skipRetention = async () => {
        vi.spyOn(Date, 'now').mockImplementation(() => hostNow() + 401 * dayMs);
        await deployment.restart({});
      };
      try {
        const [seed] = seedsOf('oracle');
        const differences = await runOracle({
          seed: seed! + 1_000,
          steps,
          api,
          shop,
          skipRetention,
        });
        expect(differences).toEqual([]);
      } finally {
        vi.restoreAllMocks();
      }
    });
});
