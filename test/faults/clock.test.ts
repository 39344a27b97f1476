import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { mkta } from '../../sandbox/mkta/index.ts';
import { type RunningOrigins, startOrigins } from '../../sandbox/server.ts';
import { findEngine } from '../engines/missing.ts';
import { embedded } from '../support/engines/engines.ts';
import { createApi, runPlainJob, type TestApi, type TestUser } from '../support/service/api.ts';
import { createDeployment, type Deployment } from '../support/service/deployment.ts';
import { createSteppedClock } from '../support/time/stepped-clock.ts';
import { until } from '../support/time/until.ts';

const clock = await findEngine(createSteppedClock());

/** Time within which work continues after a step of the clock, in milliseconds. */
const maxDelayMs = 60_000;

describe.skipIf('missing' in clock)('the embedded stack on a host whose clock steps', () => {
  if ('missing' in clock) return;
  let origins: RunningOrigins;
  let deployment: Deployment;
  let api: TestApi;
  let user: TestUser;
  beforeAll(async () => {
    origins = await startOrigins({ origins: [mkta], latencyMs: 50 });
  });
  afterAll(async () => {
    await origins.stop();
    await clock.remove();
  });
  beforeEach(async () => {
    await clock.set('+0');
    deployment = await createDeployment({
      inProcess: false,
      stack: embedded,
      engines: { settings: {}, mongo: null, nats: null, stop: async () => {} },
      origins,
      settings: {
        ...clock.environment,
        GLEANER_APPROVAL: 'off',
      },
    });
    await deployment.start();
    api = createApi(deployment);
    user = await api.createUser(10_000);
  });
  afterEach(async () => {
    await deployment.stop();
  });

  /** Resolves when the service has noticed a number of steps. */
  const noticed = (count: number) =>
    until(
      `${count} steps are noticed`,
      () => deployment.api.log().split('clock step detected').length > count || undefined,
      { withinMs: 30_000 },
    );

  /** Returns the status of a job that has ended. Rejects if it takes longer than a minute. */
  const runJob = (count = 20) => runPlainJob(api, user, count, maxDelayMs);

  test.each(['+1d', '-1d', '-90'])('works on after a step of %s', async (offset) => {
    const running = runJob(200);
    await clock.set(offset);
    await noticed(1);
    expect([await running, await runJob()]).toEqual(['completed', 'completed']);
    await clock.set('+0');
    await noticed(2);
    expect(await runJob()).toBe('completed');
  });

  test.each(['+1d', '-1d'])(
    'works on if it is killed and its clock steps by %s',
    async (offset) => {
      const running = runJob(200);
      running.catch(() => {});
      await deployment.api.kill();
      await clock.set(offset);
      await deployment.api.start();
      expect(await runJob()).toBe('completed');
    },
  );
});
