import type { Server } from 'node:http';
import { setInterval } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createApi, submitItems, type TestApi, watchJob } from '../support/service/api.ts';
import type { Deployment } from '../support/service/deployment.ts';
import { checkLargeJob, startLargeJob } from '../support/service/large-job.ts';
import { listChildren, runs } from '../support/service/process-tree.ts';
import { until } from '../support/time/until.ts';
import { deployWorkers, openedStacks, startProductOrigin } from './worker-processes.ts';

/** Requests the readiness of a service repeatedly, and collects the responses other than 200. */
function watchReadiness({ url }: Deployment): { stop(): Promise<unknown[]> } {
  const over = new AbortController();
  const refusals: unknown[] = [];
  const calls = (async () => {
    for await (const _ of setInterval(100, null)) {
      if (over.signal.aborted) return;
      const response = await fetch(`${url}/ready`).catch(String);
      const status = typeof response === 'string' ? response : response.status;
      if (status !== 200) refusals.push(status);
    }
  })();
  return {
    async stop() {
      over.abort();
      await calls;
      return refusals;
    },
  };
}

describe.each(openedStacks)('$title', ({ engines, distributed }) => {
  describe.skipIf(engines === null)('worker processes', () => {
    let origin: Server;
    let deployment: Deployment;
    let api: TestApi;
    /** Number of requests that the origin has received. It responds once `opened` resolves. */
    let held = 0;
    let opened = Promise.withResolvers<void>();
    opened.resolve();
    const hold = () => {
      held += 1;
      return opened.promise;
    };
    beforeAll(async () => {
      origin = await startProductOrigin(hold);
      const stack = { engines, distributed };
      deployment = await deployWorkers({
        stack,
        origin,
        settings: {
          GLEANER_WORKERS: '2',
          GLEANER_TEST_LIMITS: `{"workerMemoryBytes": ${96 * 1024 ** 2}}`,
        },
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
    const workerPids = () => deployment.workers.flatMap((process) => listChildren(process.pid()));

    test('a killed worker loses no unit, its batches are requeued at once, and the API stays available', {
      timeout: 300_000,
    }, async () => {
      opened = Promise.withResolvers();
      held = 0;
      const job = await startLargeJob(api, 200);
      const watched = watchJob(api, job.user, job.jobId, 240_000);
      watched.catch(() => {});
      await until('pages are being read', () => held > 0 || undefined, { withinMs: 60_000 });
      const refusals = watchReadiness(deployment);
      for (const pid of workerPids()) process.kill(pid, 'SIGKILL');
      opened.resolve();
      const ended = await watched;
      expect(await refusals.stop()).toEqual([]);
      await checkLargeJob({ api, deployment }, job, ended);
      expect(log()).toContain('"msg":"worker died"');
      expect(log()).toContain('"msg":"batch requeued"');
      expect(deployment.processes.every((process) => process.running())).toBe(true);
    });

    test('workers that stall do not delay the sweep', async () => {
      const user = await api.createUser(10_000);
      const started = await startLargeJob(api, 50);
      await checkLargeJob(
        { api, deployment },
        started,
        await watchJob(api, started.user, started.jobId, 60_000),
      );
      const { apiKey } = await api.operator('CreateApiKey', {
        user_id: user.id,
        name: 'ci',
        mode: 'test',
      });
      const pids = workerPids();
      expect(pids).not.toEqual([]);
      // The process that reads units one by one ends when it has none.
      for (const pid of pids) if (runs(pid)) process.kill(pid, 'SIGSTOP');
      const tester = { ...user, key: apiKey };
      let jobId = '';
      try {
        // The sweep approves test jobs.
        jobId = await submitItems(api, tester, 'id', [{ item_id: '1', shop_id: '77' }]);
        await until(
          'the sweep approves the job',
          async () => {
            const job = await api.operatorJobs('GetJob', { job_id: jobId });
            return job.status === 'awaiting_approval' ? undefined : true;
          },
          { withinMs: 30_000 },
        );
      } finally {
        for (const pid of pids) if (runs(pid)) process.kill(pid, 'SIGCONT');
      }
      await watchJob(api, tester, jobId, 60_000);
    });

    test('the workers end on a SIGTERM, and also when their parent process is killed', async () => {
      const [first] = deployment.workers;
      const bothWorkers = () =>
        until(
          'two workers run',
          () => {
            const now = listChildren(first!.pid());
            return now.length === 2 ? now : undefined;
          },
          { withinMs: 30_000 },
        );
      const pids = await bothWorkers();
      expect(await first!.stop()).toBe(0);
      expect(pids.filter(runs)).toEqual([]);
      await first!.start();
      if (!distributed) {
        // No job is left: the workers start with the next batch.
        expect(listChildren(first!.pid())).toEqual([]);
        await startLargeJob(api, 50);
      }
      const others = await bothWorkers();
      await first!.kill();
      await until('the workers have ended', () => !others.some(runs) || undefined, {
        withinMs: 60_000,
      });
      await first!.start();
    });
  });
});
