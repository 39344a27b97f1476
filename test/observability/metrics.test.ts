import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { plainIds } from '../../sandbox/mkta/ids.ts';
import { mkta } from '../../sandbox/mkta/index.ts';
import { type RunningOrigins, startOrigins } from '../../sandbox/server.ts';
import { type OpenedStack, openStacks, stacks } from '../support/engines/engines.ts';
import { freePort } from '../support/servers/ports.ts';
import {
  createApi,
  submitItems,
  type TestApi,
  type TestUser,
  watchJob,
} from '../support/service/api.ts';
import { createDeployment, type Deployment } from '../support/service/deployment.ts';
import { until } from '../support/time/until.ts';
import { namesOf, type Scrape, scrape, sumOf } from './place.ts';

const opened: OpenedStack[] = await openStacks(stacks);
const origins: RunningOrigins = await startOrigins({ origins: [mkta], latencyMs: 5 });
afterAll(async () => {
  await origins.stop();
  await Promise.all(opened.map(({ engines }) => engines?.stop()));
});

/**
 * Starts a deployment whose processes have an operations port each. Returns it with the URLs of
 * these ports.
 */
async function startObserved({ distributed, engines }: OpenedStack) {
  const deployment = await createDeployment({
    inProcess: false,
    stack: { distributed },
    engines: engines!,
    origins,
    settings: { GLEANER_WORKERS: '2' },
  });
  const ports = await Promise.all(deployment.processes.map(() => freePort()));
  await Promise.all(
    deployment.processes.map((process, index) =>
      process.start({ GLEANER_OPS_PORT: `${ports[index]}` }),
    ),
  );
  return { deployment, urls: ports.map((port) => `http://127.0.0.1:${port}`) };
}

describe.each(opened)('$title', (stack) => {
  let deployment: Deployment;
  let urls: string[];
  let api: TestApi;
  let user: TestUser;
  beforeAll(async () => {
    if (stack.engines === null) return;
    ({ deployment, urls } = await startObserved(stack));
    api = createApi(deployment);
    user = await api.createUser(1_000);
  });
  afterAll(() => deployment?.stop());

  const run = test.skipIf(stack.engines === null);
  const scrapeAll = async (): Promise<Scrape[]> => Promise.all(urls.map(scrape));
  const total = (all: readonly Scrape[], name: string, labels?: Record<string, string>) =>
    all.reduce((sum, one) => sum + sumOf(one, name, labels), 0);

  run('counts a job in the processes that ran its steps, each step once', async () => {
    const items = [...plainIds(6).map(String), '30000000801'].map((item_id) => ({
      item_id,
      shop_id: '77',
    }));
    const jobId = await submitItems(api, user, 'sg', items);
    const waiting = await scrape(urls[0]!);
    expect(
      sumOf(waiting, 'gleaner_jobs', { kind: 'variant_sold', state: 'awaiting_approval' }),
    ).toBe(1);
    expect(sumOf(waiting, 'gleaner_jobs')).toBe(1);
    await api.operator('ApproveJob', { job_id: jobId });
    const { download } = await watchJob(api, user, jobId, 60_000);
    const { success_count: success, failed_count: failed } = download;
    expect(success + failed).toBe(items.length);
    const units = { market: 'mkta', kind: 'variant_sold' };
    // Worker processes report every second.
    const all = await until(
      'the metrics of the job are exported',
      async () => {
        const found = await scrapeAll();
        const isComplete =
          total(found, 'gleaner_units_total', units) === items.length &&
          total(found, 'gleaner_jobs_ended_total') === 1;
        return isComplete ? found : undefined;
      },
      { withinMs: 20_000 },
    );
    expect(total(all, 'gleaner_units_total', { ...units, code: 'ok' })).toBe(success);
    expect(total(all, 'gleaner_unit_duration_seconds_count')).toBe(items.length);
    expect(total(all, 'gleaner_jobs_ended_total', { kind: 'variant_sold', market: 'mkta' })).toBe(
      1,
    );
    expect(total(all, 'gleaner_job_duration_seconds_count')).toBe(1);
    expect(total(all, 'gleaner_approval_wait_seconds_count')).toBe(1);
    expect(total(all, 'gleaner_batch_schedule_to_start_seconds_count')).toBe(1);
    expect(total(all, 'gleaner_origin_requests_total', { market: 'mkta' })).toBeGreaterThanOrEqual(
      items.length,
    );
    expect(total(all, 'gleaner_credits_total', { type: 'grant' })).toBe(1_000);
    const ledger = await api.ledger(user);
    for (const type of ['charge', 'refund']) {
      const posted = ledger.filter((entry) => entry.type.toLowerCase().includes(type));
      const credits = posted.reduce((sum, { amount }) => sum + Math.abs(amount), 0);
      expect(total(all, 'gleaner_credits_total', { type })).toBe(credits);
    }
  });

  run('exports the gauges of each role, the runtime, and no ids', async () => {
    // The delay of the event loop is missing where fewer than five were measured since the last
    // scrape.
    const all = await until(
      'each process exports the delay of its event loop',
      async () => {
        const found = await scrapeAll();
        const isMeasured = found.every((one) => namesOf(one).has('nodejs_eventloop_delay_p99'));
        return isMeasured ? found : undefined;
      },
      { withinMs: 10_000, everyMs: 200 },
    );
    for (const [index, process] of deployment.processes.entries()) {
      const names = namesOf(all[index]!);
      expect(sumOf(all[index]!, 'gleaner_build_info', { role: process.role })).toBe(1);
      expect(names).toContain('nodejs_eventloop_utilization');
      const serves = process.role !== 'worker';
      expect(names.has('gleaner_connections')).toBe(serves);
      if (serves) {
        expect(sumOf(all[index]!, 'gleaner_body_budget_bytes', { state: 'limit' })).toBeGreaterThan(
          0,
        );
        for (const port of ['http', 'rpc'])
          expect(sumOf(all[index]!, 'gleaner_connections', { port, state: 'limit' })).toBe(2_000);
      }
      expect([...names].some((name) => name.startsWith('v8js_gc_duration'))).toBe(true);
      expect(names.has('gleaner_batch_oldest_seconds')).toBe(process.role !== 'worker');
      expect(names.has('gleaner_origin_paused')).toBe(process.role !== 'worker');
      const slots = process.role === 'api' ? 0 : 2;
      expect(sumOf(all[index]!, 'gleaner_worker_slots')).toBe(slots);
    }
    const own = all
      .flatMap((one) => [...one.keys()])
      .filter((series) => series.startsWith('gleaner_'));
    expect(own.filter((series) => series.includes(user.id))).toEqual([]);
    expect(own.filter((series) => /[0-9a-f]{8}-[0-9a-f]{4}/.test(series))).toEqual([]);
  });

  run('counts each request once, by route and status', async () => {
    const before = await scrape(urls[0]!);
    const headers = { authorization: `Bearer ${user.key}` };
    for (const path of ['/v1/account', '/account', '/none/such', '/none/such/2'])
      await (await fetch(deployment.url + path, { headers })).arrayBuffer();
    const route = (http_route: string, http_response_status_code: string) => ({
      http_request_method: 'GET',
      http_route,
      http_response_status_code,
    });
    const [known, unknown] = [route('/v1/account', '200'), route('_OTHER', '404')];
    const name = 'http_server_request_duration_count';
    const after = await until(
      'the last response is closed',
      async () => {
        const found = await scrape(urls[0]!);
        return sumOf(found, name, unknown) >= sumOf(before, name, unknown) + 2 ? found : undefined;
      },
      { withinMs: 10_000 },
    );
    for (const labels of [known, unknown])
      expect(sumOf(after, name, labels) - sumOf(before, name, labels)).toBe(2);
    expect([...after.keys()].filter((series) => series.includes('none'))).toEqual([]);
    expect(
      [...before.keys()].filter((series) => series.startsWith('gleaner_requests_total{')),
    ).toHaveLength(6);
  });

  run('exports the result of an audit from one of the processes', async () => {
    const results = await until(
      'the store is audited',
      async () => {
        const found = (await scrapeAll()).flatMap(
          (one) => one.get('gleaner_audit_disagreements') ?? [],
        );
        return found.length > 0 ? found : undefined;
      },
      { withinMs: 60_000 },
    );
    expect(results).toEqual([0]);
  });

  run('serves probes of every role, and nothing else', async () => {
    for (const url of urls) {
      const health = await fetch(`${url}/health`);
      expect([health.status, await health.json()]).toEqual([200, { status: 'ok' }]);
      const ready = await fetch(`${url}/ready`);
      expect([ready.status, await ready.json()]).toEqual([200, { status: 'ready' }]);
      expect((await fetch(`${url}/v1/account`)).status).toBe(404);
      const post = await fetch(`${url}/metrics`, { method: 'POST' });
      expect([post.status, post.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
    }
  });
});
