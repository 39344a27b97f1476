import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { plainIds } from '../../sandbox/mkta/ids.ts';
import { mkta } from '../../sandbox/mkta/index.ts';
import { type RunningOrigins, startOrigins } from '../../sandbox/server.ts';
import { findEngine, findProgram } from '../engines/missing.ts';
import { createApi, submitItems, type TestApi, type TestUser, watchJob } from '../support/api.ts';
import { createDeployment, type Deployment } from '../support/deployment.ts';
import { embedded } from '../support/engines.ts';
import { until } from '../support/until.ts';

/** The library that sets the clock of a process. */
async function findLibrary() {
  const path = findProgram('libfaketimeMT.so.1');
  return path === null ? { missing: 'libfaketime is not installed: run deploy/engines.sh' } : { path };
}

const library = await findEngine(findLibrary());

/** Time within which work continues after a step of the clock, in milliseconds. */
const maxDelayMs = 60_000;

describe.skipIf('missing' in library)('the embedded stack on a host whose clock steps', () => {
  let origins: RunningOrigins;
  let folder: string;
  let deployment: Deployment;
  let api: TestApi;
  let user: TestUser;
  beforeAll(async () => {
    origins = await startOrigins({ origins: [mkta], latencyMs: 50 });
  });
  afterAll(() => origins.stop());
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'gleaner-clock-'));
    await setClock('+0');
    deployment = await createDeployment({
      inProcess: false,
      stack: embedded,
      engines: { settings: {}, mongo: null, nats: null, stop: async () => {} },
      origins,
      settings: {
        LD_PRELOAD: 'path' in library ? library.path : '',
        FAKETIME_TIMESTAMP_FILE: join(folder, 'clock'),
        FAKETIME_NO_CACHE: '1',
        FAKETIME_DONT_FAKE_MONOTONIC: '1',
        GLEANER_APPROVAL: 'off',
      },
    });
    await deployment.start();
    api = createApi(deployment);
    user = await api.createUser(10_000);
  });
  afterEach(async () => {
    await deployment.stop();
    await rm(folder, { recursive: true });
  });

  /** Sets the clock of the service's processes: "+1d" for a day ahead. */
  async function setClock(offset: string): Promise<void> {
    await writeFile(join(folder, 'next'), `${offset}\n`);
    await rename(join(folder, 'next'), join(folder, 'clock'));
  }

  /** Resolves when the service has noticed a number of steps. */
  const noticed = (count: number) =>
    until(
      `${count} steps are noticed`,
      () => deployment.api.log().split('clock step detected').length > count || undefined,
      { withinMs: 30_000 },
    );

  /** Submits a job, and returns its status once it has ended. Rejects if that takes longer than a minute. */
  async function runJob(count = 20): Promise<string> {
    const items = plainIds(count).map((id) => ({ item_id: String(id), shop_id: '77' }));
    const jobId = await submitItems(api, user, 'id', items);
    const { download } = await watchJob(api, user, jobId, maxDelayMs);
    return download.status;
  }

  test.each(['+1d', '-1d', '-90'])('works on after a step of %s', async (offset) => {
    const running = runJob(200);
    await setClock(offset);
    await noticed(1);
    expect([await running, await runJob()]).toEqual(['completed', 'completed']);
    await setClock('+0');
    await noticed(2);
    expect(await runJob()).toBe('completed');
  });

  test.each(['+1d', '-1d'])('works on if it is killed and its clock steps by %s', async (offset) => {
    const running = runJob(200);
    running.catch(() => {});
    await deployment.api.kill();
    await setClock(offset);
    await deployment.api.start();
    expect(await runJob()).toBe('completed');
  });
});
