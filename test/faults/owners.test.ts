import { createServer, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { listed } from '../../sandbox/mktf/index.ts';
import { distributedStacks, openStacks } from '../support/engines/engines.ts';
import { createApi, type TestApi, type TestUser } from '../support/service/api.ts';
import { createDeployment, type Deployment } from '../support/service/deployment.ts';
import { startLargeJob } from '../support/service/large-job.ts';
import { type LoopbackConnection, listChildren, ownerOf } from '../support/service/process-tree.ts';
import type { ServiceProcess } from '../support/service/service.ts';
import { until } from '../support/time/until.ts';
import { startProductOrigin } from './worker-processes.ts';

const responseMs = 200;
const storeCount = 6;

const connectionOf = ({ remotePort, localPort }: Socket): LoopbackConnection => ({
  remotePort: remotePort!,
  localPort: localPort!,
});
const portOf = (server: Server) => (server.address() as AddressInfo).port;

describe.each(await openStacks(distributedStacks))('$title', ({ engines, distributed }) => {
  describe.skipIf(engines === null)('an origin', () => {
    /** Requests in their order. */
    const requests: { at: number; connection: LoopbackConnection }[] = [];
    /** Workers that asked the stores, by the port of a store. */
    const askedBy = new Map<number, Set<ServiceProcess | undefined>>();
    let origin: Server;
    let stores: Server[];
    let deployment: Deployment;
    let api: TestApi;
    beforeAll(async () => {
      origin = await startProductOrigin(async ({ socket }) => {
        requests.push({ at: Date.now(), connection: connectionOf(socket) });
        await wait(responseMs);
      });
      stores = await Promise.all(Array.from({ length: storeCount }, startStore));
      const id = `http://127.0.0.1:${portOf(origin)}`;
      deployment = await createDeployment({
        inProcess: false,
        stack: { distributed },
        engines: engines!,
        origins: { config: { mkta: { id }, mktf: { allow_private: true } } } as never,
        originLimits: { concurrency: 8, requests_per_second: 20 },
        layout: { apis: 1, workers: 3, gateways: 0 },
      });
      api = createApi(deployment);
      await deployment.start();
    });
    afterAll(async () => {
      await deployment?.stop();
      await engines?.stop();
      for (const server of [origin, ...stores]) {
        server?.closeAllConnections();
        server?.close();
      }
    });

    /** Returns the worker that has a connection to the origin. */
    const workerOf = (connection: LoopbackConnection) =>
      deployment.workers.find(
        (worker) => ownerOf(listChildren(worker.pid()), connection) !== undefined,
      );

    /** Serves a store with one product, and records the workers that ask it. */
    const startStore = async (): Promise<Server> => {
      const store = createServer(async ({ socket, url }, response) => {
        const workers = askedBy.get(portOf(store)) ?? new Set();
        askedBy.set(portOf(store), workers.add(workerOf(connectionOf(socket))));
        await wait(responseMs / 4);
        const isCatalogue = url?.includes('products.json');
        response.writeHead(isCatalogue ? 200 : 404, { 'content-type': 'application/json' });
        response.end(JSON.stringify({ products: [listed('lamps', 0)] }));
      });
      await new Promise<void>((resolve) => store.listen(0, '127.0.0.1', resolve));
      return store;
    };

    /** Reads some collections of each store. */
    const readStores = async (user: TestUser): Promise<void> => {
      const urls = stores.flatMap((store) =>
        Array.from(
          { length: 8 },
          (_, index) => `http://127.0.0.1:${portOf(store)}/collections/c${index}`,
        ),
      );
      const items = urls.map((url) => ({ url }));
      const { status, body } = await api.post(user, '/v1/mktf/search/bulk/submit', { items });
      expect([status, body]).toEqual([202, expect.anything()]);
      const isOver = async () => {
        const job = await api.get(user, `/v1/mktf/search/bulk/retrieve/${body.job_id}`);
        return job.body.status === 'completed' || undefined;
      };
      await until('the stores are read', isOver, { withinMs: 60_000 });
    };

    test('that a caller names is asked by one worker', async () => {
      const user = await api.createUser(1_000);
      // The workers learn of each other meanwhile.
      await readStores(user);
      askedBy.clear();
      await readStores(user);
      const counts = [...askedBy.values()].map((workers) => [...workers].length);
      expect(counts).toEqual(stores.map(() => 1));
      expect(
        new Set([...askedBy.values()].flatMap((workers) => [...workers])).size,
      ).toBeGreaterThan(1);
    });

    test('is asked by one worker, and by another soon after that one was killed', async () => {
      const areReady = () =>
        deployment.workers.every((worker) => worker.log().includes('"msg":"worker started"')) ||
        undefined;
      await until('all workers consume', areReady, { withinMs: 30_000 });
      await startLargeJob(api, 4_000);
      const isAsked = (after: number, count: number) => () => {
        const later = requests.filter(({ at }) => at > after).slice(0, count);
        return later.length === count ? later : undefined;
      };
      const first = await until('the origin is asked', isAsked(0, 100), { withinMs: 30_000 });
      const owner = workerOf(first.at(-1)!.connection)!;
      await owner.kill();
      // Its page process ends a moment later.
      const since = Date.now() + 1_000;
      const [next] = await until('the origin is asked again', isAsked(since, 20), {
        withinMs: 10_000,
      });
      expect(workerOf(next!.connection)).not.toBe(owner);
    });
  });
});
