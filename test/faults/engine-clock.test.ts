import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { plainIds } from '../../sandbox/mkta/ids.ts';
import { mkta } from '../../sandbox/mkta/index.ts';
import { type RunningOrigins, startOrigins } from '../../sandbox/server.ts';
import { findEngine } from '../engines/missing.ts';
import { startMongo } from '../engines/mongo.ts';
import { findNats, type RunningNats, startNats } from '../engines/nats.ts';
import { createApi, submitItems, type TestApi, type TestUser, watchJob } from '../support/api.ts';
import { createDeployment, type Deployment } from '../support/deployment.ts';
import { until } from '../support/until.ts';

const folder = await mkdtemp(join(tmpdir(), 'gleaner-engine-clock-'));
const clockFile = join(folder, 'clock');

/** Sets the clock of the engine, in seconds that it is ahead. */
async function setClock(seconds: number): Promise<void> {
  await writeFile(`${clockFile}.next`, `${seconds}`);
  await rename(`${clockFile}.next`, clockFile);
}

await setClock(0);
const mongo = await findEngine(startMongo({ clockFile }));
const found = await findEngine(findNats());

/** Time within which work continues after a step of the clock, in milliseconds. */
const maxDelayMs = 60_000;

describe.skipIf('missing' in mongo || 'missing' in found)(
  'the distributed stack on a MongoDB whose clock steps',
  () => {
    if ('missing' in mongo) return;
    let origins: RunningOrigins;
    let nats: RunningNats;
    let deployment: Deployment;
    let api: TestApi;
    let user: TestUser;
    beforeAll(async () => {
      origins = await startOrigins({ origins: [mkta], latencyMs: 50 });
    });
    afterAll(async () => {
      await origins.stop();
      await mongo.kill();
      await rm(folder, { recursive: true });
    });
    beforeEach(async () => {
      const started = await startNats();
      if ('missing' in started) throw new Error(started.missing);
      nats = started;
      const settings = { MONGODB_URI: mongo.fresh(), NATS_URL: nats.url };
      deployment = await createDeployment({
        inProcess: false,
        stack: { distributed: true },
        engines: { settings, mongo: null, nats: null, stop: async () => {} },
        origins,
        settings: { GLEANER_APPROVAL: 'off' },
      });
      await deployment.start();
      api = createApi(deployment);
      user = await api.createUser(10_000);
    });
    afterEach(async () => {
      await deployment.stop();
      await nats.kill();
    });

    /** Submits a job, and returns its status once it has ended. Rejects if that takes longer than a minute. */
    async function runJob(count = 20): Promise<string> {
      const items = plainIds(count).map((id) => ({ item_id: String(id), shop_id: '77' }));
      const jobId = await submitItems(api, user, 'id', items);
      const { download } = await watchJob(api, user, jobId, maxDelayMs);
      return download.status;
    }

    test.each([-600, 600])('works on after a step of %i seconds', async (seconds) => {
      const running = runJob(200);
      await setClock(seconds);
      const noticed = () => /clock step detected/.test(deployment.processes.map((each) => each.log()).join());
      await until('the step is noticed', async () => noticed() || undefined, { withinMs: 30_000 });
      expect([await running, await runJob()]).toEqual(['completed', 'completed']);
      await setClock(0);
      expect(await runJob()).toBe('completed');
    });
  },
);
