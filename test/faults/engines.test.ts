import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { plainIds } from '../../sandbox/mkta/ids.ts';
import { mkta } from '../../sandbox/mkta/index.ts';
import { type RunningOrigins, startOrigins } from '../../sandbox/server.ts';
import { openStacks, restartableStackWithS3 } from '../support/engines/engines.ts';
import type { RestartableEngine } from '../support/engines/restartable.ts';
import {
  type ApiResponse,
  createApi,
  sendJson,
  type TestApi,
  watchJob,
} from '../support/service/api.ts';
import { createDeployment, type Deployment } from '../support/service/deployment.ts';
import { checkLargeJob, countEndedItems, startLargeJob } from '../support/service/large-job.ts';
import { until } from '../support/time/until.ts';

const [opened] = await openStacks([restartableStackWithS3]);
const engines = opened!.engines!;

/** Enough items that each engine can be stopped while the job runs. */
const items = 1_000;
const originLimits = { concurrency: 16, requests_per_second: 120 };
const outageMs = 1_000;

const item = { region: 'sg', item_id: String(plainIds(1)[0]), shop_id: '77' };
const task = '/v1/mkta/get_pc/submit';

describe.skipIf(opened!.engines === null)(`engine outages: ${opened!.title}`, () => {
  let origins: RunningOrigins;
  let deployment: Deployment;
  let api: TestApi;
  let named: Record<'store' | 'queue' | 'files', RestartableEngine>;
  beforeAll(async () => {
    named = { store: engines.mongo!, queue: engines.nats!, files: engines.files! };
    origins = await startOrigins({ origins: [mkta], latencyMs: 20 });
    deployment = await createDeployment({
      inProcess: false,
      stack: opened!,
      engines,
      origins,
      originLimits,
    });
    api = createApi(deployment);
  });
  afterAll(async () => {
    await deployment?.stop();
    await engines?.stop();
    await origins?.stop();
  });

  beforeEach(({ onTestFailed }) => onTestFailed(() => console.log(deployment?.recentLog())));

  const probe = (path: string): Promise<ApiResponse> =>
    sendJson('GET', deployment.url + path, null);
  const isReady = async () => (await probe('/ready')).status === 200 || undefined;
  const ready = (when: string) =>
    until(`the service is ready ${when}`, isReady, { withinMs: 40_000 });
  const unavailable = (name: string) =>
    `The ${name === 'files' ? 'file store' : name} is unavailable.`;
  /** Waits until /ready reports exactly these engines as unavailable, and returns its text. */
  const misses = (...names: string[]) =>
    until(
      `/ready misses ${names.join(', ')} alone`,
      async () => {
        const { status, body } = await probe('/ready');
        const reported = Object.keys(named).filter((name) =>
          body.detail.includes(unavailable(name)),
        );
        return status === 503 && reported.join() === names.join() ? String(body.detail) : undefined;
      },
      { withinMs: 30_000 },
    );
  const stopAll = () => Promise.all(Object.values(named).map((engine) => engine.stop()));

  test('a service started without engines reports what is missing, and works once they are available', async () => {
    await stopAll();
    for (const process of deployment.processes) process.launch();
    // No key can be validated yet: the process is alive but not ready.
    const isUnhealthy = async () => (await probe('/health')).status === 503 || undefined;
    await until('the API is up', isUnhealthy, { withinMs: 40_000 });
    const words = await misses('store', 'queue', 'files');
    expect(words).toBe(['store', 'queue', 'files'].map(unavailable).join(' '));
    const reasons = /MongoDB at [^\n]*NATS [^\n]*file store failed [^\n]*"msg":"not ready"/;
    // The first check of an engine may take longer than a request waits for it.
    const logged = async () => {
      await probe('/ready');
      return deployment.processes.some((process) => reasons.test(process.log())) || undefined;
    };
    await until('the log has the reasons', logged, { withinMs: 10_000 });
    // Without the store the key cannot be checked, so the response must not be 401.
    const refused = await sendJson(
      'GET',
      `${deployment.url}/v1/mkta/get_pc_bulk/tasks`,
      deployment.operatorKey,
    );
    expect([refused.status, refused.body]).toMatchObject([
      503,
      { detail: 'The service is starting.' },
    ]);
    for (const process of deployment.processes) {
      const tells = () => /"level":40[^\n]*NATS unreachable/.test(process.log()) || undefined;
      await until(`the ${process.role} reports that NATS is missing`, tells, { withinMs: 10_000 });
      const started = () => process.log().match(/^.*"msg":"started".*$/m)?.[0];
      const line = await until(`the ${process.role} has started`, started, { withinMs: 10_000 });
      expect(line.match(/"role":/g)).toHaveLength(1);
    }

    await Promise.all(Object.values(named).map((engine) => engine.start()));
    await ready('with all engines');
    expect(deployment.processes.every((process) => process.running())).toBe(true);
    const user = await api.createUser(100);
    const { status, body: accepted } = await api.post(user, task, item);
    expect(status).toBe(202);
    const path = `/v1/mkta/get_pc/retrieve/${accepted.task_id}`;
    const isDone = async () => (await api.get(user, path)).body.status === 'completed' || undefined;
    await until('the task is done', isDone, { withinMs: 30_000 });
  });

  test('engine outages during a job delay it but change nothing else', async () => {
    const job = await startLargeJob(api, items);
    const watched = watchJob(api, job.user, job.jobId, 130_000);
    watched.catch(() => {});
    for (const name of ['queue', 'store', 'files'] as const) {
      const before = await until(
        'the job tells',
        async () => (await countEndedItems(api, job)) ?? undefined,
        {
          withinMs: 30_000,
        },
      );
      const goesOn = async () => ((await countEndedItems(api, job)) ?? 0) > before || undefined;
      await until(`the job progresses before the outage of ${name}`, goesOn, { withinMs: 45_000 });
      expect(await countEndedItems(api, job)).toBeLessThan(items);
      await named[name].stop();
      await misses(name);
      expect((await probe('/health')).status).toBe(200);
      await wait(outageMs);
      await named[name].start();
      await ready(`after the ${name} is back`);
    }
    await checkLargeJob({ api, deployment }, job, await watched);
    expect(deployment.processes.every((process) => process.running())).toBe(true);
  });

  test('a submission without the broker returns 502, charges nothing, and creates no task', async () => {
    const user = await api.createUser(100);
    await named.queue.stop();
    const { status, body } = await api.post(user, task, item);
    expect([status, body]).toMatchObject([502, { detail: expect.any(String) }]);
    expect(await api.balance(user)).toBe(100);
    expect(await api.ledger(user)).toHaveLength(1);
    expect((await api.operatorJobs('ListJobs', { user_id: user.id })).jobs ?? []).toEqual([]);
    await named.queue.start();
    await ready('after the broker is back');
  });

  test('a submission without the store returns 502, and its repetition afterwards is charged once', async () => {
    const user = await api.createUser(100);
    const key = { 'Idempotency-Key': 'once' };
    await named.store.stop();
    const refused = await api.post(user, task, item, key);
    expect([refused.status, refused.body]).toMatchObject([502, { detail: unavailable('store') }]);
    await named.store.start();
    await ready('after the store is back');
    const [first, again] = [
      await api.post(user, task, item, key),
      await api.post(user, task, item, key),
    ];
    expect(first.status).toBe(202);
    expect(again.body).toEqual(first.body);
    const charges = (await api.ledger(user)).filter(({ type }) => type === 'charge');
    expect(charges.map(({ amount }) => amount)).toEqual([-8]);
  });

  test('a submission without the broker and without approval is accepted and refunded immediately', async () => {
    await deployment.restart({ GLEANER_APPROVAL: 'off' });
    const user = await api.createUser(1_000);
    await named.queue.stop();
    const ids = plainIds(60).map((id) => ({ item_id: String(id), shop_id: '77' }));
    const path = '/v1/mkta/variant_sold_v1';
    const { status, body } = await api.post(user, `${path}/submit`, { country: 'my', items: ids });
    expect([status, body]).toEqual([
      202,
      expect.objectContaining({
        status: 'initializing',
        cost: 600,
        refunded: 600,
        total_batches: 2,
      }),
    ]);
    const { body: shown } = await api.get(user, `${path}/retrieve/${body.job_id}`);
    expect(shown).toMatchObject({
      status: 'failed',
      batches: [{ status: 'FAILED' }, { status: 'FAILED' }],
    });
    const one = await api.get(user, `${path}/download/${body.job_id}/item/${ids[0]!.item_id}`);
    expect(one.body).toMatchObject({
      status: 'FAILED',
      error_log: expect.stringContaining('queue'),
    });
    expect(await api.balance(user)).toBe(1_000);
    expect(await deployment.audit()).toMatchObject({ code: 0, problems: [] });
  });

  test('every process stops within seconds of a SIGTERM while the store does not respond', async () => {
    await named.queue.start();
    await ready('after the broker is back');
    named.store.freeze();
    await misses('store');
    const codes = await Promise.all(deployment.processes.map((process) => process.stop()));
    named.store.resume();
    expect(codes).toEqual(deployment.processes.map(() => 0));
    expect(deployment.recentLog()).toContain('store closed: it does not respond');
    await deployment.start();
  });

  test('every process stops within seconds of a SIGTERM while no engine is available', async () => {
    await stopAll();
    await misses('store', 'queue', 'files');
    const codes = await Promise.all(deployment.processes.map((process) => process.stop()));
    expect(codes).toEqual(deployment.processes.map(() => 0));
  });
});
