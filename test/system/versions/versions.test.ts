import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { plainIds } from '../../../sandbox/mkta/ids.ts';
import { mkta } from '../../../sandbox/mkta/index.ts';
import { type RunningOrigins, startOrigins } from '../../../sandbox/server.ts';
import { createApi, submitItems, variantSold, watchJob } from '../../support/api.ts';
import { createDeployment, type Deployment } from '../../support/deployment.ts';
import { type Engines, openStacks, restartableStack } from '../../support/engines.ts';
import { createServiceProcess, main, type ServiceProcess } from '../../support/service.ts';
import { until } from '../../support/until.ts';
import { type ReleasedProgram, unpackReleasedProgram } from './released.ts';

const units = 200;

const [stack] = await openStacks([restartableStack]);
describe.skipIf(stack!.engines === null)(`this program beside the last release, ${stack!.title}`, () => {
  const engines: Engines = stack!.engines!;
  let released: ReleasedProgram;
  let origins: RunningOrigins;
  let deployment: Deployment;
  const running: ServiceProcess[] = [];
  beforeAll(async () => {
    released = unpackReleasedProgram();
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
    released?.remove();
  });

  /** Starts a process of this program or of the last release. */
  async function start(role: 'api' | 'worker', program: string): Promise<ServiceProcess> {
    const process = createServiceProcess({ role, program, environment: deployment.settings });
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
      succeeded: async () => (await api.get(user, variantSold.download(job))).body.success_count as number,
      ended: async () => (await watchJob(api, user, job, 90_000)).download,
    };
  }

  test.each([
    ['the api of the last release, a worker of this program', 'released', 'current'],
    ['the api of this program, a worker of the last release', 'current', 'released'],
  ] as const)('runs a job with %s', async (_title, api, worker) => {
    const programs = { released: released.main, current: main };
    await start('api', programs[api]);
    await start('worker', programs[worker]);
    const job = await submitJob(20);
    expect(await job.ended()).toMatchObject({ status: 'completed', success_count: 20 });
    expect(await deployment.audit()).toMatchObject({ code: 0, problems: [] });
  });

  test('leaves test jobs to workers of this program, and charges and shows none of them', async () => {
    const api = await start('api', main);
    await start('worker', released.main);
    const calls = createApi(deployment);
    const user = await calls.createUser(1_000);
    const { apiKey } = await calls.operator('CreateApiKey', { user_id: user.id, name: 'ci', mode: 'test' });
    const tester = { id: '', key: apiKey };
    const items = ['123', '124'].map((end) => ({ shop_domain: 'toko-7', product_key: `barang-${end}` }));
    const submit = () => calls.post(tester, '/v1/mktb/pdp/bulk/submit', { items });
    const { body } = await submit();
    const testJob = async () => (await calls.get(tester, `/v1/jobs/${body.job_id}`)).body;
    // A live job that was submitted later ends before.
    const live = await submitJob(5);
    expect(await live.ended()).toMatchObject({ success_count: 5 });
    expect(await testJob()).toMatchObject({ ended: false, success: 0, failed: 0 });
    await start('worker', main);
    const ended = async () => ((await testJob()).ended ? true : undefined);
    await until('the test job ends', ended, { withinMs: 60_000 });
    expect(await testJob()).toMatchObject({ status: 'completed', success: 2, cost: 0, charged: 0 });

    await api.stop();
    await start('api', released.main);
    // The last release would read the live site.
    expect((await submit()).status).toBe(402);
    expect((await calls.get(user, '/v1/jobs')).body.jobs).toEqual([]);
    expect(await deployment.audit()).toMatchObject({ code: 0, problems: [] });
  });

  test.each([
    ['upgrade', 'released', 'current'],
    ['downgrade', 'current', 'released'],
  ] as const)('continues a job during a rolling %s', async (_title, before, after) => {
    const programs = { released: released.main, current: main };
    const api = await start('api', programs[before]);
    const workers = [await start('worker', programs[before]), await start('worker', programs[before])];
    const job = await submitJob(units);
    const progress = async () => ((await job.succeeded()) > 20 ? true : undefined);
    await until('the job progresses', progress, { withinMs: 60_000 });
    const codes: (number | null)[] = [];
    for (const process of [workers[0]!, api, workers[1]!]) {
      codes.push(await process.stop());
      await start(process.role === 'api' ? 'api' : 'worker', programs[after]);
    }
    expect(codes).toEqual([0, 0, 0]);
    expect(await job.ended()).toMatchObject({ status: 'completed', success_count: units });
    expect(await deployment.audit()).toMatchObject({ code: 0, problems: [] });
  });
});
