import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { mkta } from '../../sandbox/mkta/index.ts';
import { type RunningOrigins, startOrigins } from '../../sandbox/server.ts';
import { embedded } from '../support/engines/engines.ts';
import {
  createApi,
  submitItems,
  type TestApi,
  type TestUser,
  variantSold,
} from '../support/service/api.ts';
import { createDeployment, type Deployment } from '../support/service/deployment.ts';
import { slack, until } from '../support/time/until.ts';

/** Requests that a port of the deployment serves at a time. */
const capacity = 40;
const share = capacity / 10;

let origins: RunningOrigins;
let deployment: Deployment;
let api: TestApi;
beforeAll(async () => {
  origins = await startOrigins({ origins: [mkta] });
  deployment = await createDeployment({
    stack: embedded,
    engines: { settings: {}, mongo: null, nats: null, stop: async () => {} },
    origins,
    settings: { GLEANER_TEST_LIMITS: JSON.stringify({ maxConnections: capacity }) },
  });
  await deployment.start();
  api = createApi(deployment);
});
afterAll(async () => {
  await deployment.stop();
  await origins.stop();
});

/** Waits of a user for a job that awaits approval. */
interface Waits {
  user: TestUser;
  statuses: number[];
  abort(): void;
  /** Responses, or null for those that were aborted. */
  responses: Promise<({ status: number; retryAfter: string | null; job: string } | null)[]>;
}

/** Starts a user's calls that wait for a job. */
async function startWaits(count: number): Promise<Waits> {
  const user = await api.createUser(100);
  const jobId = await submitItems(api, user, 'id', [{ item_id: '30000000001', shop_id: '77' }]);
  const aborting = new AbortController();
  const statuses: number[] = [];
  const wait = async () => {
    const response = await fetch(`${deployment.url}${variantSold.retrieve(jobId)}?wait=60s`, {
      headers: { authorization: `Bearer ${user.key}` },
      signal: aborting.signal,
    });
    statuses.push(response.status);
    const { job_status: job = '' } = (await response.json()) as { job_status?: string };
    return { status: response.status, retryAfter: response.headers.get('retry-after'), job };
  };
  const responses = Promise.all(Array.from({ length: count }, () => wait().catch(() => null)));
  return { user, statuses, abort: () => aborting.abort(), responses };
}

describe('a port', () => {
  test('refuses the waits of an account beyond its share, and serves others at once', async () => {
    const waits = await startWaits(share + 6);
    await until('six waits are refused', () => waits.statuses.length === 6 || undefined, {
      withinMs: 10_000,
    });
    const started = performance.now();
    expect((await fetch(`${deployment.url}/health`)).status).toBe(200);
    await api.createUser(1);
    expect(performance.now() - started).toBeLessThan(2_000 * slack);
    waits.abort();
    const refused = (await waits.responses).filter((response) => response !== null);
    expect(refused.map(({ status, retryAfter }) => [status, retryAfter])).toEqual(
      Array.from({ length: 6 }, () => [429, '1']),
    );
  });

  test('answers the oldest waits early with the present state when it fills', async () => {
    const before: Waits[] = [];
    for (let account = 0; account < 7; account += 1) before.push(await startWaits(share));
    expect(before.flatMap(({ statuses }) => statuses)).toEqual([]);
    const last = await startWaits(share);
    const early = () => before[0]!.statuses.length > 0 || undefined;
    await until('the oldest waits are answered', early, { withinMs: 10_000 });
    expect(before[0]!.statuses.every((status) => status === 200)).toBe(true);
    expect(last.statuses).toEqual([]);
    for (const waits of [...before, last]) waits.abort();
    const [answered] = (await before[0]!.responses).filter((response) => response !== null);
    expect(answered).toMatchObject({ status: 200, job: expect.any(String) });
  });
});
