import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createApi, type TestApi } from '../support/api.ts';
import { createDeployment, type Deployment } from '../support/deployment.ts';
import { openStacks, stacks } from '../support/engines.ts';
import { formatSeedCommand, seedsOf } from '../support/seeds.ts';
import { runOracle } from './run.ts';
import { type Shop, startShop } from './shop.ts';

/** Jobs of a run take some tenths of a second each. */
const steps = 8;

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
});
