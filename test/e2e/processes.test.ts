import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { mktb } from '../../sandbox/mktb/index.ts';
import { type RunningOrigins, startOrigins } from '../../sandbox/server.ts';
import { openStacks, restartableStack } from '../support/engines/engines.ts';
import { createApi, sendJson, type TestApi, type TestUser } from '../support/service/api.ts';
import { createDeployment, type Deployment } from '../support/service/deployment.ts';
import { until } from '../support/time/until.ts';

const requestsPerSecond = 20;
const sharedMs = 60_000;
const path = '/v1/mktb/pdp/bulk';
const items = [{ shop_domain: 'toko-7', product_key: 'barang-1001' }];
const [opened] = await openStacks([restartableStack]);

describe.skipIf(opened!.engines === null)(
  `two api processes and a gateway, ${opened!.title}`,
  () => {
    const engines = opened!.engines!;
    let origins: RunningOrigins;
    let deployment: Deployment;
    let api: TestApi;
    beforeAll(async () => {
      origins = await startOrigins({ origins: [mktb], misbehaviour: 'none' });
      deployment = await createDeployment({
        inProcess: false,
        stack: { distributed: true },
        engines,
        origins,
        settings: { GLEANER_REQUESTS_PER_SECOND: String(requestsPerSecond), GLEANER_WORKERS: '0' },
        layout: { apis: 2, workers: 1, gateways: 1 },
      });
      const serving = deployment.processes.filter(({ role }) => role !== 'worker');
      await Promise.all(serving.map((process) => process.start()));
      api = createApi(deployment);
    });
    afterAll(async () => {
      await deployment?.stop();
      await engines.stop();
      await origins?.stop();
    });

    /**
     * Sends requests concurrently. Returns their statuses, and the maximum that a rate admits until
     * the last response.
     */
    const burst = async (
      count: number,
      rate: number,
      send: (index: number) => Promise<{ status: number }>,
    ) => {
      const started = performance.now();
      const responses = await Promise.all(Array.from({ length: count }, (_, index) => send(index)));
      const seconds = (performance.now() - started) / 1_000;
      const admitted = responses.filter(({ status }) => status !== 429).length;
      return { admitted, max: rate * (1 + seconds) + 1 };
    };

    test('a final response replaces the cached one of another process under the rules of the cache', async () => {
      const user = await api.createUser(100);
      const { body } = await api.post(user, `${path}/submit`, { items });
      const [first, second, gateway] = deployment.urls;
      const retrieve = (
        url: string | undefined,
        query = '',
        headers: Record<string, string> = {},
      ) =>
        sendJson(
          'GET',
          `${url}${path}/retrieve/${body.job_id}${query}`,
          user.key,
          undefined,
          headers,
        );
      for (const url of [first, second, gateway]) {
        const early = await retrieve(url);
        expect(early.body.status).toBe('processing');
        expect(early.headers.get('cache-control')).toMatch(/^private, max-age=(1[01]\d|120)$/);
      }
      await deployment.workers[0]!.start();
      const ended = await retrieve(first, '?wait=60s');
      expect(ended.body.status).toBe('completed');
      const stale = await retrieve(second);
      expect(stale.body.status).toBe('processing');
      const maxAge = Number(/max-age=(\d+)/.exec(stale.headers.get('cache-control')!)![1]);
      expect(maxAge).toBeLessThanOrEqual(120);
      for (const url of [second, gateway]) {
        const fresh = await retrieve(url, '?wait=1s');
        expect(fresh.body.status).toBe('completed');
        expect(fresh.headers.get('etag')).toBe(ended.headers.get('etag'));
        expect((await retrieve(url)).body.status).toBe('completed');
        const tag = { 'if-none-match': ended.headers.get('etag')! };
        expect((await retrieve(url, '', tag)).status).toBe(304);
      }
    });

    describe('once the processes have counted each other', () => {
      let user: TestUser;
      beforeAll(async () => {
        // A new key has a full quota at each process.
        const isShared = async () => {
          user = await api.createUser(100);
          const headers = deployment.urls.slice(0, 2).map(async (url) => {
            const response = await sendJson('GET', `${url}/v1/account`, user.key);
            return response.headers.get('x-ratelimit-remaining');
          });
          // One request of the own half counts as two of the whole.
          return (await Promise.all(headers)).every((remaining) => remaining === '18') || undefined;
        };
        await until('both processes share the rate', isShared, {
          withinMs: sharedMs,
          everyMs: 500,
        });
        user = await api.createUser(100);
      });

      test('a key has one rate limit over both', async () => {
        const urls = deployment.urls.slice(0, 2);
        const { admitted, max } = await burst(120, requestsPerSecond, (index) =>
          sendJson('GET', `${urls[index % 2]}/v1/account`, user.key),
        );
        expect(admitted).toBeGreaterThanOrEqual(requestsPerSecond);
        expect(admitted).toBeLessThanOrEqual(max);
      });

      test('malformed requests at a separate gateway count', async () => {
        const other = await api.createUser(100);
        const url = `${deployment.urls[2]}${path}/submit`;
        const { status, headers } = await sendJson('POST', url, other.key, '{');
        expect([status, headers.get('x-ratelimit-remaining')]).toEqual([400, '18']);
        const { admitted, max } = await burst(120, requestsPerSecond / 2, () =>
          sendJson('POST', url, other.key, '{'),
        );
        expect(admitted).toBeLessThanOrEqual(max);
      });
    });
  },
);
