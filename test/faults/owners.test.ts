import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createApi, type TestApi } from '../support/api.ts';
import { createDeployment, type Deployment } from '../support/deployment.ts';
import { distributedStacks, openStacks } from '../support/engines.ts';
import { startLargeJob } from '../support/large-job.ts';
import { listChildren, ownerOf } from '../support/process-tree.ts';
import { until } from '../support/until.ts';
import { startProductOrigin } from './worker-processes.ts';

const responseMs = 200;

describe.each(await openStacks(distributedStacks))('$title', ({ engines, distributed }) => {
  describe.skipIf(engines === null)('an origin', () => {
    /** Requests in their order. */
    const requests: { at: number; port: number }[] = [];
    let origin: Server;
    let deployment: Deployment;
    let api: TestApi;
    beforeAll(async () => {
      origin = await startProductOrigin(async ({ socket }) => {
        requests.push({ at: Date.now(), port: socket.remotePort! });
        await wait(responseMs);
      });
      const id = `http://127.0.0.1:${(origin.address() as AddressInfo).port}`;
      deployment = await createDeployment({
        inProcess: false,
        stack: { distributed },
        engines: engines!,
        origins: { config: { mkta: { id } } } as never,
        originLimits: { concurrency: 8, requests_per_second: 20 },
        layout: { apis: 1, workers: 3, gateways: 0 },
      });
      api = createApi(deployment);
      await deployment.start();
    });
    afterAll(async () => {
      await deployment?.stop();
      await engines?.stop();
      origin?.closeAllConnections();
      origin?.close();
    });

    /** Returns the worker that has a connection to the origin. */
    const workerOf = (port: number) =>
      deployment.workers.find((worker) => ownerOf(listChildren(worker.pid()), port) !== undefined);

    test('is asked by one worker, and by another soon after that one was killed', async () => {
      const areReady = () =>
        deployment.workers.every((worker) => worker.log().includes('"msg":"worker started"')) || undefined;
      await until('all workers consume', areReady, { withinMs: 30_000 });
      await startLargeJob(api, 4_000);
      const isAsked = (after: number, count: number) => () => {
        const later = requests.filter(({ at }) => at > after).slice(0, count);
        return later.length === count ? later : undefined;
      };
      const first = await until('the origin is asked', isAsked(0, 100), { withinMs: 30_000 });
      const owner = workerOf(first.at(-1)!.port)!;
      await owner.kill();
      // Its page process ends a moment later.
      const since = Date.now() + 1_000;
      const [next] = await until('the origin is asked again', isAsked(since, 20), { withinMs: 10_000 });
      expect(workerOf(next!.port)).not.toBe(owner);
    });
  });
});
