import { demoJobs } from '../../src/tools/demo/jobs.ts';
import { sendJson, type TestUser } from '../support/service/api.ts';
import { brokenRule } from '../support/service/hold.ts';
import { until } from '../support/time/until.ts';
import type { ConsoleEnvironment } from './environment.ts';
import { runVariants, type VariantRequest } from './held-job.ts';

/** Contents of a seeded environment. */
export interface Seed {
  /** User with jobs of every kind: ended, running and awaiting approval. */
  anna: TestUser;
  /** User with too few credits for the job awaiting approval. */
  budi: TestUser;
  /** Job of anna that ended with failures and is compared. */
  partial: string;
  /** Job of anna whose deliveries to her destination `inbox` are held. */
  held: string;
  /** Place of an item of that job: `mkta/id/<item>`. */
  tracked: string;
  /** Job of anna that awaits approval. */
  waiting: string;
  /** Active schedule of anna. */
  schedule: string;
  /** Schedule of anna whose runs await approval. */
  proposed: string;
  /** Ended job of anna's test account. */
  tested: string;
}

const everyMs = 250;

/**
 * Suffixes of item ids that fail on the fake marketplace for several reasons without pausing its
 * origin.
 */
const failingSuffixes = [800, 800, 813, 801, 803];

/**
 * Creates users, credits, keys and real jobs of every kind, and waits until the approved jobs end.
 */
export async function seed(env: ConsoleEnvironment): Promise<Seed> {
  const { api, deployment, receiver, store } = env;
  const user = async (name: string, email: string, credits: number): Promise<TestUser> => {
    const { user: account } = await api.operator('CreateUser', { name, email });
    const { apiKey } = await api.operator('CreateApiKey', {
      user_id: account.id,
      name: 'catalogue sync',
    });
    if (credits > 0)
      await api.operator('GrantCredits', {
        user_id: account.id,
        amount: credits,
        note: 'Plan of the month',
      });
    return { id: account.id, key: apiKey };
  };
  const anna = await user('Anna Kirana', 'anna@example.test', 25_000);
  const budi = await user('Toko Budi', 'budi@example.test', 5_600);
  await user('Price Watch', 'team@example.test', 0);

  const hook = await sendJson('PUT', `${deployment.url}/v1/account/webhook`, anna.key, {
    url: receiver.url,
  });
  if (hook.status !== 200) throw new Error(`webhook: ${hook.status} ${JSON.stringify(hook.body)}`);

  const ids = (of: TestUser) => api.operatorJobs('ListJobs', { user_id: of.id, page_size: 100 });
  const submit = async (by: TestUser, path: string, body: unknown, query = ''): Promise<string> => {
    const { status, body: response } = await api.post(by, `${path}/submit${query}`, body);
    if (status !== 202) throw new Error(`${path}: ${status} ${JSON.stringify(response)}`);
    return response.job_id;
  };
  const approvals: string[] = [];
  for (const work of demoJobs(() => store)) {
    if (work.csv === undefined) {
      const jobId = await submit(anna, work.submitPath.replace(/\/submit$/, ''), work.body);
      if (work.needsApproval) approvals.push(jobId);
    } else await upload(deployment.url, anna, work.submitPath, work.csv);
  }
  for (const jobId of approvals) await api.operator('ApproveJob', { job_id: jobId });

  const items = (country: string, first: number, count: number) => ({
    country,
    items: Array.from({ length: count }, (_, at) => ({
      item_id: String(first + at),
      shop_id: '7001',
    })),
  });
  const mixed = {
    country: 'id',
    items: Array.from({ length: 400 }, (_, at) => ({
      item_id: String(
        40_000_000_000 +
          at * 1000 +
          (at % 16 === 15 ? failingSuffixes[(at >> 4) % failingSuffixes.length]! : 1),
      ),
      shop_id: '7001',
    })),
  };
  const partial = await submit(anna, '/v1/mkta/variant_sold_v1', mixed, '?track=nightly');
  await api.operator('ApproveJob', { job_id: partial });
  await api.post(anna, '/v1/rules', { condition: 'price_falls_by', threshold: 5, name: 'Cheaper' });
  await until(
    'the jobs end',
    async () => {
      const { jobs } = await ids(anna);
      return jobs.every((job: { ended?: boolean }) => job.ended) || undefined;
    },
    { withinMs: 60_000, everyMs },
  );
  await until(
    'the job is compared',
    async () =>
      (await api.get(anna, `/v1/jobs/${partial}/changes`)).body.status === 'done' || undefined,
    { withinMs: 30_000, everyMs },
  );
  const held = await createHeldJob(
    env,
    anna,
    { ...mixed, items: mixed.items.slice(0, 12) },
    partial,
  );
  const waiting = await submit(anna, '/v1/mkta/variant_sold_v1', items('sg', 50_000_000_000, 240));
  await submit(anna, '/v1/mkta/search-items', {
    urls: [
      'https://mkta.example.co.id/search?keyword=rak%20buku',
      'https://mkta.example.sg/search?keyword=teapot',
    ],
  });
  await submit(budi, '/v1/mkta/variant_sold_v1', items('my', 60_000_000_000, 400));
  await submit(budi, '/v1/mkta/variant_sold_v1', items('th', 70_000_000_000, 300));
  await submit(budi, '/v1/mkta/merchant-items', {
    urls: ['https://mkta.example.com.my/shop/7004003'],
  });
  await api.operator('GrantCredits', { user_id: budi.id, amount: -2_000, note: 'Correction' });
  // A blocking site and a job that waits for it, of a region that no test uses.
  await submit(anna, '/v1/mktd/pdp/bulk', {
    items: Array.from({ length: 12 }, (_, at) => ({
      product_id: String(1_729_100_000_807 + at * 1000),
      country: 'ph',
    })),
  });
  await until(
    'the origin is paused',
    async () => {
      const { origins } = await api.operator('ListOrigins', {});
      return origins.some((origin: { pausedUntil?: string }) => origin.pausedUntil) || undefined;
    },
    { withinMs: 30_000, everyMs },
  );
  const { schedule, proposed } = await createSchedules(deployment.url, anna);
  const tested = await createTestJob(env, anna);
  return {
    anna,
    budi,
    partial,
    held,
    tracked: 'mkta/id/40000000001',
    waiting,
    schedule,
    proposed,
    tested,
  };
}

/** Creates a test key of a user, and runs a job with it. Returns the job's id. */
async function createTestJob({ api }: ConsoleEnvironment, user: TestUser): Promise<string> {
  const { apiKey: key } = await api.operator('CreateApiKey', {
    user_id: user.id,
    name: 'integration tests',
    mode: 'test',
  });
  const tester = { id: user.id, key };
  const items = Array.from({ length: 40 }, (_, at) => ({
    asin: `B0GLN01${String(at + 1).padStart(3, '0')}`,
    country: 'de',
  }));
  const query = '?name=Desk%20and%20bicycle';
  const { status, body } = await api.post(tester, `/v1/mkte/pdp/bulk/submit${query}`, { items });
  if (status !== 202) throw new Error(`test job: ${status} ${JSON.stringify(body)}`);
  await api.get(tester, `/v1/jobs/${body.job_id}?wait=30s`);
  return body.job_id;
}

/**
 * Creates the destination `inbox` and a job that is held by a field that `earlier` lacks. Returns
 * the job's id.
 */
async function createHeldJob(
  env: ConsoleEnvironment,
  user: TestUser,
  request: VariantRequest,
  earlier: string,
): Promise<string> {
  const created = await env.api.post(user, '/v1/destinations', {
    name: 'inbox',
    type: 'https',
    url: env.receiver.filesUrl,
    headers: [{ name: 'Authorization', value: 'Bearer example' }],
    format: 'csv',
  });
  if (created.status !== 201) throw new Error(`destination: ${JSON.stringify(created.body)}`);
  const rule = await brokenRule(env.api, user, earlier);
  return runVariants(env, user, request, `?deliver_to=inbox&hold=${encodeURIComponent(rule)}`);
}

/** Creates an active schedule with a run, and one whose runs await approval. */
async function createSchedules(
  url: string,
  user: TestUser,
): Promise<Pick<Seed, 'schedule' | 'proposed'>> {
  const create = async (schedule: object): Promise<string> => {
    const created = await sendJson('POST', `${url}/v1/schedules`, user.key, {
      time_zone: 'Asia/Jakarta',
      max_total_credits: 500,
      ...schedule,
    });
    if (created.status !== 201) throw new Error(`schedule: ${JSON.stringify(created.body)}`);
    return created.body.schedule_id;
  };
  const proposed = await create({
    name: 'Stock of variants',
    market: 'mkta',
    kind: 'variant_sold',
    cron: '0 6 * * MON',
    request: { country: 'id', items: [{ item_id: '20000000001', shop_id: '7001' }] },
  });
  const schedule = await create({
    name: 'Evening prices',
    market: 'mktb',
    kind: 'pdp_bulk',
    cron: '0 18 * * *',
    request: { items: [{ shop_domain: 'toko-7', product_key: 'barang-1001' }] },
  });
  await sendJson('POST', `${url}/v1/schedules/${schedule}/run`, user.key, {});
  return { schedule, proposed };
}

async function upload(url: string, user: TestUser, path: string, csv: string): Promise<void> {
  const body = new FormData();
  body.set('result_format', 'jsonl');
  body.set('file', new Blob([csv], { type: 'text/csv' }), 'products.csv');
  const response = await fetch(url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${user.key}` },
    body,
  });
  if (response.status !== 202)
    throw new Error(`${path}: ${response.status} ${await response.text()}`);
}
