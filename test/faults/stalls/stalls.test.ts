import type { Server } from 'node:http';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { plainIds } from '../../../sandbox/mkta/ids.ts';
import { createApi, submitItems, type TestApi, watchJob } from '../../support/service/api.ts';
import type { Deployment } from '../../support/service/deployment.ts';
import { listChildren } from '../../support/service/process-tree.ts';
import { until } from '../../support/time/until.ts';
import { deployWorkers, openedStacks, startProductOrigin } from '../worker-processes.ts';
import { stallingItem } from './stalling-item.ts';

const service = fileURLToPath(new URL('./service.ts', import.meta.url));
const unitPrice = 10;

describe.each(openedStacks)('$title', ({ engines, distributed }) => {
  describe.skipIf(engines === null)('a page that stalls its worker', () => {
    let origin: Server;
    let deployment: Deployment;
    let api: TestApi;
    beforeAll(async () => {
      origin = await startProductOrigin();
      const stack = { engines, distributed };
      deployment = await deployWorkers({
        stack,
        origin,
        program: service,
        settings: { GLEANER_WORKERS: '1' },
      });
      api = createApi(deployment);
      await deployment.start();
    });
    afterAll(async () => {
      await deployment?.stop();
      await engines?.stop();
      origin?.close();
    });
    beforeEach(({ onTestFailed }) => onTestFailed(() => console.log(deployment?.recentLog())));

    const log = () => deployment.workers.map((process) => process.log()).join('\n');
    const count = (text: string) => log().split(`"msg":"${text}"`).length - 1;
    const submit = async (ids: readonly (string | number)[]) => {
      const user = await api.createUser(ids.length * unitPrice);
      const items = ids.map((itemId) => ({ item_id: String(itemId), shop_id: '77' }));
      const jobId = await submitItems(api, user, 'id', items);
      await api.operator('ApproveJob', { job_id: jobId });
      return { user, jobId };
    };

    test('costs at most three deaths, fails alone, and does not stop the job of another user', {
      timeout: 300_000,
    }, async () => {
      const ids = plainIds(120);
      const stalling = await submit([...ids.slice(0, 9), stallingItem]);
      const stalled = watchJob(api, stalling.user, stalling.jobId, 240_000);
      stalled.catch(() => {});
      const other = await submit(ids);
      const { download } = await watchJob(api, other.user, other.jobId, 120_000);
      expect(download).toMatchObject({ success_count: 120, failed_count: 0 });
      expect(await api.balance(other.user)).toBe(0);

      const ended = await stalled;
      expect(ended.download).toMatchObject({ success_count: 9, failed_count: 1 });
      expect(await api.balance(stalling.user)).toBe(unitPrice);
      expect(count('worker died')).toBeLessThanOrEqual(3);
      expect(count('worker stalled')).toBe(count('worker died'));
      expect(count('unit abandoned')).toBe(1);
      expect(log()).toMatch(/"index":9,"msg":"worker stalled"/);
      expect(deployment.processes.every((process) => process.running())).toBe(true);
      expect((await deployment.audit()).problems).toEqual([]);
    });

    test('is not blamed when a process was frozen', { timeout: 120_000 }, async () => {
      const deaths = count('worker died');
      const [parent] = deployment.workers;
      const job = await submit(plainIds(200));
      await until('a worker runs', () => listChildren(parent!.pid()).length > 0 || undefined, {
        withinMs: 30_000,
      });
      const pids = listChildren(parent!.pid());
      for (const pid of pids) process.kill(pid, 'SIGSTOP');
      const frozenAt = performance.now();
      await until(
        'a stall would have been noticed',
        () => performance.now() - frozenAt > 9_000 || undefined,
        {
          withinMs: 30_000,
        },
      );
      for (const pid of pids) process.kill(pid, 'SIGCONT');
      const { download } = await watchJob(api, job.user, job.jobId, 90_000);
      expect(download).toMatchObject({ success_count: 200, failed_count: 0 });
      expect(count('worker died')).toBe(deaths);
    });
  });
});
