import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
// @ts-expect-error: a plain script, which runs before there is a compiler.
import { isSetUp } from '../../deploy/install.mjs';
import { plainIds } from '../../sandbox/mkta/ids.ts';
import { mkta } from '../../sandbox/mkta/index.ts';
import { type RunningOrigins, startOrigins } from '../../sandbox/server.ts';
import { loadConfig } from '../../src/base/config.ts';
import { openStore } from '../../src/stack/stack.ts';
import { openStacks, stacks } from '../support/engines/engines.ts';
import { freePort } from '../support/servers/ports.ts';
import {
  createApi,
  submitItems,
  type TestApi,
  variantSold,
  watchJob,
} from '../support/service/api.ts';
import { createDeployment, type Deployment } from '../support/service/deployment.ts';
import { createServiceProcess, httpUrl, root } from '../support/service/service.ts';
import { until, withTimeout } from '../support/time/until.ts';

let origins: RunningOrigins;
beforeAll(async () => {
  origins = await startOrigins({ origins: [mkta], latencyMs: 50 });
});
afterAll(() => origins.stop());

/** Returns true if a port accepts connections. */
async function listens(port: string): Promise<boolean> {
  const socket = connect(Number(port), '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

/** Starts a job that takes many seconds and contains stalled pages, which end only when aborted. */
async function busyWith(api: TestApi) {
  const user = await api.createUser(10_000);
  const stalled = Array.from({ length: 8 }, (_, at) => 30_000_000_914 + at * 1_000);
  const ids = [...stalled, ...plainIds(600)];
  const items = ids.map((id) => ({ item_id: String(id), shop_id: '77' }));
  const jobId = await submitItems(api, user, 'id', items);
  await api.operator('ApproveJob', { job_id: jobId });
  const busy = () =>
    Object.values(origins.counters()).reduce((sum, count) => sum + count, 0) > 50 || undefined;
  await until('pages are requested', busy, { withinMs: 15_000 });
  return { user, jobId };
}

/** Counts the claimed batches in the store of a deployment whose processes have ended. */
async function claimedBatches(settings: Record<string, string>): Promise<number> {
  const store = await openStore(loadConfig(settings));
  try {
    return (await store.batches.countBacklog(0)).reduce((sum, { claimed }) => sum + claimed, 0);
  } finally {
    await store.close();
  }
}

const opened = await openStacks(stacks);
describe.each(opened)('$title', ({ engines, distributed }) => {
  describe.skipIf(engines === null)('with a running job', () => {
    let deployment: Deployment;
    beforeAll(async () => {
      const originLimits = { concurrency: 16, requests_per_second: 60 };
      deployment = await createDeployment({
        inProcess: false,
        stack: { distributed },
        engines: engines!,
        origins,
        originLimits,
      });
    });
    afterAll(async () => {
      await deployment?.stop();
      await engines?.stop();
    });

    test('every process stops with code 0 within seconds of a SIGTERM, and the job resumes after the next start', async () => {
      await deployment.start();
      const api = createApi(deployment);
      const { user, jobId } = await busyWith(api);
      // stop() rejects after 8 seconds.
      const codes = await Promise.all(deployment.processes.map((process) => process.stop()));
      expect(codes).toEqual(deployment.processes.map(() => 0));
      for (const port of [
        deployment.settings.GLEANER_HTTP_PORT!,
        deployment.settings.GLEANER_GRPC_PORT!,
      ]) {
        expect(await listens(port)).toBe(false);
      }
      // The processes released their claims, so the job does not wait for leases to expire.
      expect(await claimedBatches(deployment.settings)).toBe(0);
      await deployment.start();
      const before = (await api.get(user, variantSold.download(jobId))).body.success_count;
      const grows = async () =>
        (await api.get(user, variantSold.download(jobId))).body.success_count > before || undefined;
      await until('the job progresses', grows, { withinMs: 30_000 });
    });

    if (distributed)
      test('core and gateway answer pending calls on a SIGTERM and end with code 0', async () => {
        const { settings } = deployment;
        const ports = {
          GLEANER_HTTP_PORT: String(await freePort()),
          GLEANER_GRPC_PORT: String(await freePort()),
        };
        const core = createServiceProcess({ role: 'core', environment: { ...settings, ...ports } });
        await core.start();
        const GLEANER_CORE_URL = `http://127.0.0.1:${ports.GLEANER_GRPC_PORT}`;
        const environment = { ...settings, ...ports, GLEANER_CORE_URL };
        const gateway = createServiceProcess({ role: 'gateway', environment });
        await gateway.start();
        const api = createApi({ url: httpUrl(environment), operatorKey: deployment.operatorKey });
        const user = await api.createUser(100);
        const jobId = await submitItems(api, user, 'id', [{ item_id: '1', shop_id: '77' }]);
        const waiting = api.get(user, `${variantSold.retrieve(jobId)}?wait=60s`);
        // A later request on another connection returns only after the first one has been received.
        await api.get(user, `${variantSold.retrieve(jobId)}?wait=1s`);
        const stopped = core.stop();
        expect((await waiting).body).toMatchObject({ status: 'awaiting_approval' });
        expect([await stopped, await gateway.stop()]).toEqual([0, 0]);
      });
  });
});

describe('npm start', () => {
  let deployment: Deployment;
  let npm: ChildProcess | null = null;
  beforeEach((context) => {
    // Otherwise npm start would install packages while other tests use them.
    context.skip(
      !isSetUp({ all: true }) && !process.env.CI,
      'the npm packages are not those of package-lock.json: npm run setup -- --all',
    );
  });
  beforeAll(async () => {
    const [embedded] = await openStacks(stacks.filter(({ distributed }) => !distributed));
    deployment = await createDeployment({
      inProcess: false,
      stack: { distributed: false },
      engines: embedded!.engines!,
      origins,
    });
  });
  afterAll(async () => {
    if (npm && npm.exitCode === null && npm.signalCode === null) process.kill(-npm.pid!, 'SIGKILL');
    await deployment.stop();
  });

  const port = () => deployment.settings.GLEANER_HTTP_PORT!;
  const ready = async () => (await fetch(`${deployment.url}/ready`)).ok || undefined;
  const isFree = async () => !(await listens(port())) || undefined;
  /** Runs npm start in its own process group, as a shell or a supervisor does. */
  const start = async () => {
    const { PATH, HOME } = process.env;
    const env = { PATH, HOME, ...deployment.settings };
    npm = spawn('npm', ['start', '--silent'], { cwd: root, env, detached: true, stdio: 'ignore' });
    await until('the service is ready', ready, { withinMs: 30_000 });
    return npm;
  };

  test('frees its ports when only npm is killed, and resumes the job after a restart', async () => {
    const api = createApi(deployment);
    await start();
    const user = await api.createUser(10_000);
    const items = plainIds(400).map((id) => ({ item_id: String(id), shop_id: '77' }));
    const jobId = await submitItems(api, user, 'sg', items);
    await api.operator('ApproveJob', { job_id: jobId });
    await wait(300);
    npm!.kill('SIGKILL');
    await until('the port is free', isFree, { withinMs: 3_000 });
    await start();
    const { download } = await watchJob(api, user, jobId, 30_000);
    npm!.kill('SIGKILL');
    await until('the port is free', isFree, { withinMs: 3_000 });
    expect(download).toMatchObject({ status: 'completed', success_count: 400 });
    expect(await deployment.audit()).toMatchObject({ code: 0, problems: [] });
  });

  test('frees its ports when its whole process group is killed', async () => {
    process.kill(-(await start()).pid!, 'SIGKILL');
    await until('the port is free', isFree, { withinMs: 3_000 });
  });

  test('ends all processes on a SIGTERM to npm and on Ctrl-C in a terminal', async () => {
    const ways = [
      (group: number) => process.kill(group, 'SIGTERM'),
      (group: number) => process.kill(-group, 'SIGINT'),
    ];
    for (const end of ways) {
      const running = await start();
      const exited = once(running, 'exit');
      end(running.pid!);
      await withTimeout('npm ends', 8_000, exited);
      await until('the port is free', isFree, { withinMs: 3_000 });
    }
  });
});
