import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { plainIds } from '../../sandbox/mkta/ids.ts';
import { mkta } from '../../sandbox/mkta/index.ts';
import { type RunningOrigins, startOrigins } from '../../sandbox/server.ts';
import { openStacks, stacks } from '../support/engines/engines.ts';
import { createApi, sendJson, submitItems, variantSold, watchJob } from '../support/service/api.ts';
import { createDeployment, type Deployment } from '../support/service/deployment.ts';
import { until } from '../support/time/until.ts';

let origins: RunningOrigins;
beforeAll(async () => {
  origins = await startOrigins({ origins: [mkta] });
});
afterAll(() => origins.stop());

const items = plainIds(20).map((id) => ({ item_id: String(id), shop_id: '77' }));
/** More free space than any machine has: 953 TiB. */
const more = { GLEANER_TEST_LIMITS: `{"minFreeDiskBytes": ${2 ** 50}}` };
const enough = { GLEANER_TEST_LIMITS: '{"minFreeDiskBytes": 0}' };

const opened = await openStacks(stacks);
describe.each(opened)('$title', ({ engines, distributed }) => {
  describe.skipIf(engines === null)('with less free disk than the minimum', () => {
    let deployment: Deployment;
    beforeAll(async () => {
      deployment = await createDeployment({
        inProcess: false,
        stack: { distributed },
        engines: engines!,
        origins,
      });
    });
    afterAll(async () => {
      await deployment?.stop();
      await engines?.stop();
    });

    test('submits return 503, and processes report that work is paused and resume it once there is space', async () => {
      await deployment.start();
      const api = createApi(deployment);
      const user = await api.createUser(1_000);
      const jobId = await submitItems(api, user, 'sg', items);

      await Promise.all(deployment.processes.map((process) => process.stop()));
      for (const process of deployment.processes) process.launch(more);
      const ready = () => sendJson('GET', `${deployment.url}/ready`, null);
      const isStarted = async () =>
        (await sendJson('GET', `${deployment.url}/health`, null)).status === 200 || undefined;
      await until('the service has started', isStarted, { withinMs: 60_000 });
      const refused = await until(
        'the service is up',
        async () => {
          const response = await ready();
          return /disk/.test(response.body.detail) ? response : undefined;
        },
        { withinMs: 30_000 },
      );
      expect(refused).toMatchObject({ status: 503, body: { status: 'unavailable' } });

      const balance = await api.balance(user);
      const response = await api.post(user, variantSold.submit, { country: 'sg', items });
      expect(response).toMatchObject({
        status: 503,
        body: { detail: expect.stringContaining('disk') },
      });
      expect(response.headers.get('retry-after')).toBe('30');
      expect(await api.balance(user)).toBe(balance);

      await api.operator('ApproveJob', { job_id: jobId });
      const paused = async () => {
        const { processes } = await api.operator('GetWork', {});
        const states = processes.map((process: { paused?: string }) => process.paused);
        return states.length >= deployment.processes.length &&
          states.every((state: string) => /disk/.test(state))
          ? true
          : undefined;
      };
      await until('every process reports that it is paused', paused, { withinMs: 30_000 });
      expect((await api.get(user, variantSold.download(jobId))).body.success_count).toBe(0);
      expect(deployment.api.log()).toContain('disk almost full, work paused');

      await deployment.restart(enough);
      await watchJob(api, user, jobId, 60_000);
      expect(await ready()).toMatchObject({ status: 200 });
      expect((await deployment.audit()).problems).toEqual([]);
    });
  });
});
