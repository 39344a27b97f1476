import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setInterval } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { plainIds } from '../../sandbox/mkta/ids.ts';
import { productPage } from '../../sandbox/mkta/product-page.ts';
import { createApi, sendJson, submitItems, type TestApi, variantSold, watchJob } from '../support/api.ts';
import { createDeployment, type Deployment } from '../support/deployment.ts';
import { distributedStacks, type Engines, openStacks, stacks } from '../support/engines.ts';
import { checkLargeJob, startLargeJob } from '../support/large-job.ts';
import { until } from '../support/until.ts';

/** The item whose page kills the worker that reads it. */
const poisonId = '30000000667';

/** Returns the ids of a process's children. */
function childrenOf(pid: number): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8');
  return children.trim().split(' ').filter(Boolean).map(Number);
}

/** Returns true if a process runs and is not a zombie. */
function runs(pid: number): boolean {
  try {
    return !/^State:\s*Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}

/** Returns the process among `pids` that owns the client end of a loopback connection. */
function ownerOf(pids: readonly number[], clientPort: number): number | undefined {
  const hex = clientPort.toString(16).toUpperCase().padStart(4, '0');
  const row = new RegExp(`^\\s*\\d+: [0-9A-F]+:${hex} (?:\\S+ +){7}(\\d+)`, 'm');
  const inode = row.exec(readFileSync('/proc/net/tcp', 'utf8'))?.[1];
  const holds = (pid: number) =>
    readdirSync(`/proc/${pid}/fd`).some((fd) => {
      try {
        return readlinkSync(`/proc/${pid}/fd/${fd}`) === `socket:[${inode}]`;
      } catch {
        // The descriptor was closed after the folder was listed.
        return false;
      }
    });
  return pids.find(holds);
}

/** Serves product pages of marketplace A. Ids ending in 801 do not exist; the poison item calls `endReader`. */
async function startOrigin(
  endReader: (clientPort: number) => void,
  gate: () => Promise<void>,
): Promise<Server> {
  const server = createServer(async (request, response) => {
    await gate();
    const itemId = /[?&]item_id=(\d+)/.exec(request.url ?? '')?.[1] ?? '';
    const missing = '{"error":4,"error_msg":"item not found","data":null}';
    const page = itemId.endsWith('801') ? missing : productPage('id', Number(itemId), 77);
    if (itemId === poisonId) return endReader(request.socket.remotePort!);
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(page);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

const [embedded] = await openStacks(stacks.filter(({ distributed }) => !distributed));
const opened = [embedded!, ...(await openStacks(distributedStacks))];

describe.each(opened)('$title', ({ engines, distributed }) => {
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
      origin = await startOrigin((clientPort) => {
        const reader = ownerOf(workerPids(), clientPort);
        if (reader !== undefined) process.kill(reader, 'SIGKILL');
      }, hold);
      const id = `http://127.0.0.1:${(origin.address() as AddressInfo).port}`;
      deployment = await createDeployment({
        stack: { distributed },
        engines: engines as Engines,
        origins: { config: { mkta: { id } } } as never,
        originLimits: { concurrency: 16, requests_per_second: 200 },
        settings: { GLEANER_WORKERS: '2', GLEANER_WORKER_MEMORY: '96' },
        layout: { apis: 1, workers: 1, gateways: 0 },
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
    const workerPids = () => deployment.workers.flatMap((process) => childrenOf(process.pid()));

    test('a killed worker loses no unit, and its batches are requeued at once', {
      timeout: 120_000,
    }, async () => {
      opened = Promise.withResolvers();
      held = 0;
      const job = await startLargeJob(api, 200);
      const watched = watchJob(api, job.user, job.jobId, 100_000);
      watched.catch(() => {});
      await until('pages are being read', () => held > 0 || undefined, { withinMs: 60_000 });
      for (const pid of workerPids()) process.kill(pid, 'SIGKILL');
      opened.resolve();
      await checkLargeJob({ api, deployment }, job, await watched);
      expect(log()).toContain('"msg":"worker died"');
      expect(log()).toContain('"msg":"batch requeued"');
      expect(deployment.processes.every((process) => process.running())).toBe(true);
    });

    test('workers that stall do not delay the sweep', { timeout: 120_000 }, async () => {
      const user = await api.createUser(10_000);
      const started = await startLargeJob(api, 50);
      await checkLargeJob(
        { api, deployment },
        started,
        await watchJob(api, started.user, started.jobId, 60_000),
      );
      const { apiKey } = await api.operator('CreateApiKey', { user_id: user.id, name: 'ci', mode: 'test' });
      const pids = workerPids();
      expect(pids).not.toEqual([]);
      for (const pid of pids) process.kill(pid, 'SIGSTOP');
      try {
        // The sweep approves test jobs.
        const jobId = await submitItems(api, { ...user, key: apiKey }, 'id', [
          { item_id: '1', shop_id: '77' },
        ]);
        await until(
          'the sweep approves the job',
          async () => {
            const { job } = await api.operator('GetJob', { job_id: jobId });
            return job.status === 'awaiting_approval' ? undefined : true;
          },
          { withinMs: 30_000 },
        );
      } finally {
        for (const pid of pids) if (runs(pid)) process.kill(pid, 'SIGCONT');
      }
    });

    test('a page that kills every worker reading it fails alone, and the API stays available', {
      timeout: 260_000,
    }, async () => {
      const deaths = log().split('"msg":"worker died"').length - 1;
      const user = await api.createUser(10_000);
      const ids = plainIds(39).map(String);
      ids.splice(25, 0, poisonId);
      const jobId = await submitItems(
        api,
        user,
        'id',
        ids.map((id) => ({ item_id: id, shop_id: '77' })),
      );
      await api.operator('ApproveJob', { job_id: jobId });
      const over = new AbortController();
      const refusals: unknown[] = [];
      const calls = (async () => {
        for await (const _ of setInterval(100, null)) {
          if (over.signal.aborted) return;
          const { status } = await sendJson('GET', `${deployment.url}/ready`, null).catch((error) => ({
            status: String(error),
          }));
          if (status !== 200) refusals.push(status);
        }
      })();
      const { download } = await watchJob(api, user, jobId, 200_000).finally(() => over.abort());
      await calls;
      expect(refusals).toEqual([]);
      expect(download).toMatchObject({ total_items: 40, success_count: 39, failed_count: 1 });
      const { body } = await api.get(user, variantSold.item(jobId, poisonId));
      expect(body).toMatchObject({
        status: 'FAILED',
        error_log: expect.stringContaining('its worker crashed or failed'),
      });
      const { body: merged } = await sendJson('GET', download.download_url, null);
      expect(merged.map(({ itemId }: { itemId: string }) => itemId)).toEqual(ids);
      expect(log()).toContain('"msg":"unit abandoned"');
      expect(log().split('"msg":"worker died"').length - 1 - deaths).toBeLessThanOrEqual(4);
      expect(await deployment.audit()).toMatchObject({ code: 0, problems: [] });
    });

    test('the workers end on a SIGTERM, and also when their parent process is killed', {
      timeout: 180_000,
    }, async () => {
      const [first] = deployment.workers;
      const bothWorkers = () =>
        until(
          'two workers run',
          () => {
            const now = childrenOf(first!.pid());
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
        expect(childrenOf(first!.pid())).toEqual([]);
        await startLargeJob(api, 50);
      }
      const others = await bothWorkers();
      await first!.kill();
      await until('the workers have ended', () => !others.some(runs) || undefined, { withinMs: 60_000 });
      await first!.start();
    });
  });
});
