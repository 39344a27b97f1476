import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { plainIds } from '../../../sandbox/mkta/ids.ts';
import { mkta } from '../../../sandbox/mkta/index.ts';
import { type RunningOrigins, startOrigins } from '../../../sandbox/server.ts';
import { migrations } from '../../../src/store/mongo/migrate.ts';
import { openMongoStore } from '../../../src/store/mongo/open.ts';
import { type Engines, openStacks, restartableStack } from '../../support/engines/engines.ts';
import { createApi, submitItems, variantSold, watchJob } from '../../support/service/api.ts';
import { createDeployment, type Deployment } from '../../support/service/deployment.ts';
import {
  createServiceProcess,
  main,
  type ServiceProcess,
  sources,
} from '../../support/service/service.ts';
import { until } from '../../support/time/until.ts';

type Version = 'current' | 'next';

const units = 200;

const [stack] = await openStacks([restartableStack]);
describe.skipIf(stack!.engines === null)(
  `this program beside a next version, ${stack!.title}`,
  () => {
    const engines: Engines = stack!.engines!;
    let origins: RunningOrigins;
    let deployment: Deployment;
    const running: ServiceProcess[] = [];
    beforeAll(async () => {
      origins = await startOrigins({ origins: [mkta], latencyMs: 20 });
      const originLimits = { concurrency: 16, requests_per_second: 60 };
      const settings = { GLEANER_WORKERS: '1' };
      deployment = await createDeployment({
        inProcess: false,
        stack: stack!,
        engines,
        origins,
        originLimits,
        settings,
      });
    });
    afterEach(async () => {
      await Promise.all(running.splice(0).map((process) => process.stop()));
    });
    afterAll(async () => {
      await deployment?.stop();
      await engines.stop();
      await origins?.stop();
    });

    /** Starts a process of this program or of the next version, which adds a migration to it. */
    async function start(role: 'api' | 'worker', version: Version): Promise<ServiceProcess> {
      const module = new URL('next-version.ts', import.meta.url).href;
      const changes = version === 'next' ? { NODE_OPTIONS: `--import=${module}` } : {};
      const environment = { ...deployment.settings, ...changes };
      // The compiled program has no module whose migrations the next version could add to.
      const program = version === 'next' ? sources : main;
      const process = createServiceProcess({ role, environment, program });
      running.push(process);
      await process.start();
      return process;
    }

    async function submitJob(count: number) {
      const api = createApi(deployment);
      const user = await api.createUser(10_000);
      const items = plainIds(count).map((id) => ({ item_id: String(id), shop_id: '77' }));
      const job = await submitItems(api, user, 'id', items);
      await api.operator('ApproveJob', { job_id: job });
      return {
        succeeded: async () =>
          (await api.get(user, variantSold.download(job))).body.success_count as number,
        ended: async () => (await watchJob(api, user, job, 90_000)).download,
      };
    }

    test.each([
      ['upgrade', 'current', 'next'],
      ['downgrade', 'next', 'current'],
    ] as const)('continues a job during a rolling %s', async (_title, before, after) => {
      const api = await start('api', before);
      const workers = [await start('worker', before), await start('worker', before)];
      const job = await submitJob(units);
      const progress = async () => ((await job.succeeded()) > 20 ? true : undefined);
      await until('the job progresses', progress, { withinMs: 60_000 });
      const codes: (number | null)[] = [];
      for (const process of [workers[0]!, api, workers[1]!]) {
        codes.push(await process.stop());
        await start(process.role === 'api' ? 'api' : 'worker', after);
      }
      expect(codes).toEqual([0, 0, 0]);
      expect(await job.ended()).toMatchObject({ status: 'completed', success_count: units });
      expect(await deployment.audit()).toMatchObject({ code: 0, problems: [] });
      const store = openMongoStore({ uri: deployment.settings.MONGODB_URI! });
      expect(await store.schemaVersion()).toBe(migrations.length + 1);
      await store.close();
    });
  },
);
