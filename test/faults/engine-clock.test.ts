import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { mkta } from '../../sandbox/mkta/index.ts';
import { type RunningOrigins, startOrigins } from '../../sandbox/server.ts';
import { findEngine } from '../engines/missing.ts';
import { startMongo } from '../engines/mongo.ts';
import { findNats, type RunningNats, startNats } from '../engines/nats.ts';
import { createApi, runPlainJob, type TestApi, type TestUser } from '../support/service/api.ts';
import { createDeployment, type Deployment } from '../support/service/deployment.ts';
import { createClockFile } from '../support/time/stepped-clock.ts';
import { until } from '../support/time/until.ts';

/** Seconds by which the clock of the engine is ahead. */
const clock = await createClockFile('0');
const mongo = await findEngine(startMongo({ clockFile: clock.path }));
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
      await clock.remove();
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

    /** Returns the status of a job that has ended. Rejects if it takes longer than a minute. */
    const runJob = (count = 20) => runPlainJob(api, user, count, maxDelayMs);

    test.each([-600, 600])('works on after a step of %i seconds', async (seconds) => {
      const running = runJob(200);
      await clock.set(String(seconds));
      const noticed = () =>
        /clock step detected/.test(deployment.processes.map((each) => each.log()).join());
      await until('the step is noticed', async () => noticed() || undefined, { withinMs: 30_000 });
      expect([await running, await runJob()]).toEqual(['completed', 'completed']);
      await clock.set('0');
      expect(await runJob()).toBe('completed');
    });
  },
);
