import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { mkta } from '../../sandbox/mkta/index.ts';
import { type RunningOrigins, startOrigins } from '../../sandbox/server.ts';
import { createApi, type TestApi, watchJob } from '../support/api.ts';
import { createDeployment, type Deployment } from '../support/deployment.ts';
import { distributedStacks, type Engines, openStacks, stacks } from '../support/engines.ts';
import { checkLargeJob, countEndedItems, type LargeJob, startLargeJob } from '../support/large-job.ts';
import { createSeededRandom, type SeededRandom } from '../support/seeded-random.ts';
import type { ServiceProcess } from '../support/service.ts';
import { until } from '../support/until.ts';

/** Items of the job: enough that it still runs when a process that starts slowly has been killed again. */
const itemsOf = (distributed: boolean) => (distributed ? 3_000 : 2_000);
/** Limits the rate of all workers together, so that the job takes some seconds. */
const originLimits = { concurrency: 32, requests_per_second: 130 };
const endMs = 150_000;

interface Scene {
  api: TestApi;
  deployment: Deployment;
  engines: Engines;
  draw: SeededRandom;
}

/** Faults injected while the job ran, one line each. */
type Story = string[];

/** Waits for progress and a random delay, then kills and restarts the process if the job still runs. */
async function killOnce(
  { api, draw }: Scene,
  job: LargeJob,
  service: ServiceProcess,
  story: Story,
): Promise<void> {
  let before: number | null = null;
  const goesOn = async () => {
    const now = await countEndedItems(api, job);
    before ??= now;
    return (now !== null && before !== null && now > before) || undefined;
  };
  await until('the job progresses', goesOn, { withinMs: 60_000 });
  await wait(draw.integer(0, 2_000));
  const done = await countEndedItems(api, job);
  await service.kill();
  const items = job.items.length;
  story.push(`${service.role} killed after ${done ?? '?'} of ${items} items`);
  if (done === items) throw new Error(`the job ended too early: ${story.join('; ')}`);
  await wait(draw.integer(0, 500));
  // Does not wait for the start, so that the next kill may hit a starting process.
  service.launch();
}

/** Kills the only process repeatedly. */
async function killTheOne(scene: Scene, job: LargeJob, story: Story): Promise<void> {
  for (let times = 0; times < 4; times++) await killOnce(scene, job, scene.deployment.api, story);
}

/** Kills the workers in turn, the api once, and stops the NATS server for a moment. */
async function killAround(scene: Scene, job: LargeJob, story: Story): Promise<void> {
  const { engines, deployment, draw } = scene;
  const { workers, api } = deployment;
  await killOnce(scene, job, workers[0]!, story);
  await killOnce(scene, job, api, story);
  await engines.nats!.stop();
  await wait(draw.integer(100, 1_000));
  await engines.nats!.start();
  story.push('NATS restarted');
  await killOnce(scene, job, draw.pick(workers), story);
  await killOnce(scene, job, workers[1]!, story);
}

const draw = createSeededRandom();
const [embedded] = await openStacks(stacks.filter(({ distributed }) => !distributed));
const opened = [embedded!, ...(await openStacks(distributedStacks))];

describe.each(opened)('$title', ({ engines, distributed, title }) => {
  describe.skipIf(engines === null)(`seed ${draw.seed}`, () => {
    const items = itemsOf(distributed);
    let origins: RunningOrigins;
    let scene: Scene;
    beforeAll(async () => {
      origins = await startOrigins({ origins: [mkta], latencyMs: 40 });
      const deployment = await createDeployment({
        stack: { distributed },
        engines: engines!,
        origins,
        originLimits,
      });
      scene = { api: createApi(deployment), deployment, engines: engines!, draw };
      await deployment.start();
    });
    afterAll(async () => {
      await scene?.deployment.stop();
      await engines?.stop();
      await origins?.stop();
    });

    beforeEach(({ onTestFailed }) => onTestFailed(() => console.log(scene?.deployment.recentLog())));

    test(`a job of ${items} items survives kills at random moments`, { timeout: 200_000 }, async () => {
      const { api } = scene;
      const job = await startLargeJob(api, items);
      const story: Story = [];
      const kills = distributed ? killAround : killTheOne;
      const [watched] = await Promise.all([
        watchJob(api, job.user, job.jobId, endMs),
        kills(scene, job, story),
      ]);
      console.log(`${title}, seed ${draw.seed}: ${story.join('; ')}`);
      await checkLargeJob(scene, job, watched);
      expect(scene.deployment.processes.every((process) => process.running())).toBe(true);
    });
  });
});
