import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { plainIds } from '../../sandbox/mkta/ids.ts';
import { mkta } from '../../sandbox/mkta/index.ts';
import { type RunningOrigins, startOrigins } from '../../sandbox/server.ts';
import { createApi, sendJson, type TestApi, type TestUser } from '../support/api.ts';
import { createDeployment, type Deployment } from '../support/deployment.ts';
import { distributedStacks, openStacks, stacks } from '../support/engines.ts';
import { startReceiver, type WebhookReceiver } from '../support/receiver.ts';
import { createSeededRandom } from '../support/seeded-random.ts';
import { runTracked } from '../support/tracked-runs.ts';

const items = plainIds(60).map(String);
/** Limits the rate, so that a job takes more than a second. */
const originLimits = { concurrency: 8, requests_per_second: 45 };
const killsPerRun = 2;

/** Prices of the items in each run, by their position. Null: the item is missing. */
const priceFactors: readonly ((position: number) => number | null)[] = [
  () => 1,
  (position) => (position % 3 === 0 ? 0.9 : position % 10 === 1 ? null : 1),
  (position) => (position % 3 === 0 ? 0.97 : 1),
];

interface Scene {
  api: TestApi;
  origins: RunningOrigins;
  deployment: Deployment;
  receiver: WebhookReceiver;
}

/** What the runs of a series lead to, without ids and times. */
interface SeriesResult {
  runs: object[];
  /** Observations by item, the latest first. */
  histories: object[][];
  /** Run and item of each message. */
  messages: string[];
}

/** Runs a series for a new user, `during` each run, and returns what its user sees. */
async function runSeries(scene: Scene, during: () => Promise<void>): Promise<SeriesResult> {
  const { api, origins, deployment, receiver } = scene;
  const user = await api.createUser(10_000);
  await sendJson('PUT', `${deployment.url}/v1/account/webhook`, user.key, { url: receiver.url });
  await api.post(user, '/v1/rules', { name: 'Cheaper', condition: 'price_falls_by', threshold: 5 });
  const runs: { jobId: string; result: object }[] = [];
  for (const factorOf of priceFactors) {
    for (const [position, id] of items.entries()) {
      const priceFactor = factorOf(position);
      origins.changeItem('mkta', 'id', id, priceFactor === null ? { isRemoved: true } : { priceFactor });
    }
    const [changes] = await Promise.all([runTracked(api, user, 'daily', items), during()]);
    const { counts, messages, job_id: jobId } = changes;
    const rows = changes.changes.map(({ type, key, before, after }) => ({ type, key, before, after }));
    rows.sort((one, other) => (one.key < other.key ? -1 : 1));
    runs.push({ jobId, result: { counts, messages, changes: rows } });
  }
  const turnOf = (jobId: string) => runs.findIndex((run) => run.jobId === jobId);
  const sent = await messagesOf(scene, user, turnOf);
  const histories: object[][] = [];
  for (const id of items) histories.push(await historyOf(api, user, id, turnOf));
  return { runs: runs.map(({ result }) => result), histories, messages: sent };
}

/** Returns the observations of an item, and checks that each ends with the next one. */
async function historyOf(
  api: TestApi,
  user: TestUser,
  id: string,
  turnOf: (jobId: string) => number,
): Promise<object[]> {
  const { status, body } = await api.get(user, `/v1/history/mkta/id/${id}?page_size=100`);
  expect(status).toBe(200);
  return body.observations.map(
    (
      each: { job_id: string; values: object; changed: string[]; ended_at?: string },
      index: number,
      all: { observed_at: string }[],
    ) => {
      expect(each.ended_at).toBe(all[index - 1]?.observed_at);
      return { turn: turnOf(each.job_id), values: each.values, changed: each.changed };
    },
  );
}

/** Returns the messages about items, delivered or not. */
async function messagesOf(
  { api }: Scene,
  user: TestUser,
  turnOf: (jobId: string) => number,
): Promise<string[]> {
  const { status, body } = await api.get(user, '/v1/account/webhook/deliveries?page_size=100');
  expect(status).toBe(200);
  const about = body.deliveries.filter(({ type }: { type: string }) => type === 'item.changed');
  return about
    .map((each: { body: { data: { job_id: string; key: string } } }) => each.body.data)
    .map(({ job_id: jobId, key }: { job_id: string; key: string }) => `run ${turnOf(jobId)}: ${key}`)
    .sort();
}

const draw = createSeededRandom();
const [embedded] = await openStacks(stacks.filter(({ distributed }) => !distributed));
const opened = [embedded!, ...(await openStacks(distributedStacks))];

describe.each(opened)('$title', ({ engines, distributed, title }) => {
  describe.skipIf(engines === null)(`seed ${draw.seed}`, () => {
    let scene: Scene;
    beforeAll(async () => {
      const origins = await startOrigins({ origins: [mkta], latencyMs: 20, misbehaviour: 'none' });
      const receiver = await startReceiver();
      const settings = { GLEANER_WEBHOOK_PRIVATE: 'on' };
      const deployment = await createDeployment({
        stack: { distributed },
        engines: engines!,
        origins,
        originLimits,
        settings,
      });
      scene = { api: createApi(deployment), deployment, origins, receiver };
      await deployment.start();
    });
    afterAll(async () => {
      await scene?.deployment.stop();
      await scene?.receiver.close();
      await scene?.origins.stop();
      await engines?.stop();
    });

    beforeEach(({ onTestFailed }) => onTestFailed(() => console.log(scene?.deployment.recentLog())));

    test('kills change neither observations, nor changes, nor messages', { timeout: 480_000 }, async () => {
      const story: string[] = [];
      const killSome = async () => {
        for (let times = 0; times < killsPerRun; times++) {
          await wait(draw.integer(0, 2_500));
          const service = draw.pick(scene.deployment.processes);
          await service.kill();
          story.push(service.role);
          await wait(draw.integer(0, 300));
          await service.start();
        }
      };
      const expected = await runSeries(scene, async () => {});
      const disturbed = await runSeries(scene, killSome);
      console.log(`${title}, seed ${draw.seed}: killed ${story.join(', ')}`);
      expect(disturbed).toEqual(expected);
      expect(expected.runs).toMatchObject([
        { counts: { new: 60 }, messages: 0 },
        // One of the cheaper items states no price.
        { counts: { changed: 19, missing: 4, unchanged: 37 }, messages: 19 },
        { counts: { changed: 19, back: 4, unchanged: 37 }, messages: 0 },
      ]);
    });
  });
});
