import { mkdir, symlink } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { origins } from '../../sandbox/list.ts';
import { type RunningOrigins, startOrigins } from '../../sandbox/server.ts';
import { freePort } from '../support/servers/ports.ts';
import { createApi, sendJson, type TestApi, type TestUser } from '../support/service/api.ts';
import { createDeployment, type Deployment } from '../support/service/deployment.ts';
import {
  createServiceInProcess,
  httpUrl,
  type ServiceProcess,
} from '../support/service/service.ts';
import { slack } from '../support/time/until.ts';
import { aSchedule } from './bodies.ts';

// Features for the convenience of clients, on the service in one process and through a separate
// gateway process.
let running: RunningOrigins;
let deployment: Deployment;
let gateway: ServiceProcess;
let urls: Record<'serve' | 'gateway', string>;
let api: TestApi;
let user: TestUser;

beforeAll(async () => {
  running = await startOrigins({ origins });
  deployment = await createDeployment({
    stack: { distributed: false },
    engines: { settings: {}, mongo: null, nats: null, stop: async () => {} },
    origins: running,
    settings: {
      GLEANER_REQUESTS_PER_SECOND: '1000',
      GLEANER_LINK_SECRETS: 'a secret that the processes share',
    },
  });
  await deployment.start();
  const { GLEANER_GRPC_PORT: corePort, ...settings } = deployment.settings;
  const environment = {
    ...settings,
    GLEANER_HTTP_PORT: String(await freePort()),
    GLEANER_DATA_DIR: `${settings.GLEANER_DATA_DIR}-gateway`,
    GLEANER_CORE_URL: `http://127.0.0.1:${corePort}`,
  };
  // Both processes read the same result files, as they would in a bucket.
  await mkdir(environment.GLEANER_DATA_DIR);
  await symlink(`${settings.GLEANER_DATA_DIR}/results`, `${environment.GLEANER_DATA_DIR}/results`);
  gateway = createServiceInProcess({ role: 'gateway', environment });
  await gateway.start();
  urls = { serve: deployment.url, gateway: httpUrl(environment) };
  api = createApi(deployment);
  user = await api.createUser(1_000);
});

afterAll(async () => {
  await gateway?.stop();
  await deployment?.stop();
  await running?.stop();
});

const variantSold = '/v1/mkta/variant_sold_v1';
const body = { country: 'sg', items: [{ item_id: '4', shop_id: '7' }] };
const page = { region: 'sg', item_id: '4', shop_id: '7' };
const both = ['serve', 'gateway'] as const;
const unit = (item: object) => ({ items: [item] });

test.each([
  ['a loopback address', 'http://127.0.0.1/hook'],
  ['an address of a private network', 'http://192.168.7.7/hook'],
  ['localhost', 'http://localhost:8080/'],
  ['a private IPv6 address', 'http://[fd00::1]/'],
  ['a loopback address as one number', 'http://2130706433/'],
  ['the port of another service', 'http://hooks.invalid:25/'],
])('a webhook at %s is refused', async (_title, url) => {
  for (const path of ['/v1/account/webhook', '/account/webhook']) {
    const { status, body: refusal } = await sendJson('PUT', deployment.url + path, user.key, {
      url,
    });
    expect(status).toBe(422);
    expect(refusal.detail).toMatchObject([{ loc: ['body', 'url'], type: 'value_error' }]);
  }
});

const search = { list_type: 'search', keyword: 'lamp', country: 'us' };

test.for(both)(
  '%s: a body with what belongs into the query is refused, and nothing is charged',
  async (where) => {
    const { key } = await api.createUser(100);
    const post = async (path: string, request: object | null) => {
      const { status, body: refusal } = await sendJson('POST', urls[where] + path, key, request);
      return { status, problems: refusal.detail };
    };
    const refused = (name: string) => ({
      status: 422,
      problems: [
        {
          loc: ['body', name],
          type: 'extra_forbidden',
          msg: `Send "${name}" as a query parameter, not in the body`,
        },
      ],
    });
    const job = '/v1/jobs/5b0f8f5c-1d0e-4a5e-9a43-0d8b0a1f6c52';
    expect(await post(`${variantSold}/submit`, { ...body, max_credits: 1 })).toEqual(
      refused('max_credits'),
    );
    expect(await post(`${variantSold}/submit`, { ...body, validate_only: true })).toEqual(
      refused('validate_only'),
    );
    expect(await post(`${job}/release`, { discard: true })).toEqual(refused('discard'));
    expect(await post(`${job}/cancel`, { reason: 'x', other: 1 })).toEqual(refused('reason'));
    expect(await post(`${job}/retry`, { max_credits: 1 })).toEqual(refused('max_credits'));
    expect(await post(`${job}/reread`, { deliver_to: 'x' })).toEqual(refused('deliver_to'));
    for (const harmless of [{}, { discard: null }, { discard: false }, { other: 1 }, [], null])
      expect(await post(`${job}/release`, harmless)).toMatchObject({ status: 404 });
    const form = new FormData();
    form.set('file', new Blob(['product_id\nB0GLN01001\n'], { type: 'text/csv' }), 'a.csv');
    form.set('max_credits', '1');
    const uploaded = await fetch(`${urls[where]}/v1/mkta/get_pc_bulk/submit`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}` },
      body: form,
    });
    expect(uploaded.status).toBe(422);
    const { detail } = (await uploaded.json()) as { detail: unknown[] };
    expect(detail).toContainEqual(refused('max_credits').problems[0]);
    expect(await api.get({ key } as TestUser, '/v1/jobs')).toMatchObject({ body: { jobs: [] } });
  },
);

test.for(both)(
  '%s: a refused submission lists every problem, whichever step finds it',
  async (where) => {
    const { key } = await api.createUser(100);
    const locations = async (path: string, request: object) => {
      const { status, body: refusal } = await sendJson('POST', urls[where] + path, key, request);
      expect(status).toBe(422);
      return refusal.detail.map(
        ({ loc, type }: { loc: string[]; type: string }) => `${loc.join('.')} ${type}`,
      );
    };
    const category = { ...search, list_type: 'category' };
    expect(
      await locations('/v1/mkte/search/bulk/submit', {
        items: [{ ...search, country: 'xx' }, category],
      }),
    ).toEqual(['body.items.0.country enum', 'body.items.1.category missing']);
    const items = [
      category,
      { ...search, pages: 'all' },
      { ...search, country: 'xx' },
      { ...search, keyword: ' ' },
    ];
    expect(await locations('/v1/mkte/search/bulk/submit?max_credits=x', { items })).toEqual([
      'query.max_credits int_parsing',
      'body.items.0.category missing',
      'body.items.1.pages int_parsing',
      'body.items.2.country enum',
      'body.items.3.keyword string_too_short',
    ]);
    const addresses = ['https://shop.test/a', 7, 'https://shop.sg/search?keyword=lamp'];
    expect(await locations('/v1/mkta/search-items/submit', { urls: addresses })).toEqual([
      'body.urls.0 url_parsing',
      'body.urls.1 string_type',
    ]);
    const sold = [
      { item_id: 'a' },
      { item_id: '4', shop_id: '7', country: 'id' },
      { item_id: '4', shop_id: '7' },
    ];
    expect(await locations(`${variantSold}/submit`, { country: 'sg', items: sold })).toEqual([
      'body.items.0.shop_id missing',
      'body.items.0.item_id string_pattern_mismatch',
      'body.items.1.country value_error',
    ]);
    expect(await api.get({ key } as TestUser, '/v1/jobs')).toMatchObject({ body: { jobs: [] } });
  },
);

test.for(both)(
  '%s: a submit returns the remaining credits, the rate limit, and the location of the job',
  async (where) => {
    const { key } = await api.createUser(100);
    const submitted = await sendJson('POST', `${urls[where]}/mkta/get_pc/submit`, key, page);
    const { headers } = submitted;
    expect([submitted.status, headers.get('x-credits-remaining')]).toEqual([202, '92']);
    expect(headers.get('location')).toBe(`/mkta/get_pc/retrieve/${submitted.body.task_id}`);
    expect(headers.get('ratelimit-policy')).toBe('"key";q=1000;w=1');
    const seen = await sendJson('GET', urls[where] + headers.get('location'), key);
    expect([seen.status, seen.body.task_id]).toEqual([200, submitted.body.task_id]);
    const dear = await sendJson('POST', `${urls[where]}${variantSold}/submit`, key, {
      ...body,
      items: Array(10).fill(body.items[0]),
    });
    expect([dear.status, dear.headers.get('x-credits-remaining')]).toEqual([402, '92']);
  },
);

test.for(both)(
  '%s: a schedule is created once per idempotency key, with its location',
  async (where) => {
    const { key } = await api.createUser(100);
    const send = (change = {}) => {
      const path = `${urls[where]}/v1/schedules`;
      return sendJson(
        'POST',
        path,
        key,
        { ...aSchedule, ...change },
        { 'idempotency-key': 'daily' },
      );
    };
    const [first, again, other] = [await send(), await send(), await send({ cron: '0 9 29 2 *' })];
    expect([first.status, again.status, other.status]).toEqual([201, 201, 409]);
    expect(again.body).toEqual(first.body);
    expect(first.headers.get('location')).toBe(`/v1/schedules/${first.body.schedule_id}`);
    const { body: listed } = await sendJson('GET', `${urls[where]}/v1/schedules`, key);
    expect(listed.schedules).toHaveLength(1);
  },
);

test.for(both)(
  '%s: a wait ends with the task, and a current ETag is answered with 304',
  async (where) => {
    const submitted = await sendJson(
      'POST',
      `${urls[where]}/v1/mkta/get_pc/submit`,
      user.key,
      page,
    );
    const path = urls[where] + submitted.headers.get('location');
    const ended = await sendJson('GET', `${path}?wait=30s`, user.key);
    expect([ended.status, ended.body.status]).toEqual([200, 'completed']);
    const known = { 'if-none-match': ended.headers.get('etag')! };
    const again = await sendJson('GET', `${path}?wait=30s`, user.key, undefined, known);
    expect([again.status, again.body]).toEqual([304, null]);
    expect(again.headers.get('x-credits-remaining')).toMatch(/^\d+$/);
  },
);

const products: readonly [path: string, request: object, record: object][] = [
  ['/v1/mkta/get_pc/submit', page, { data: { item: { item_id: 4 } } }],
  ['/v1/mktb/pdp/bulk/submit', unit({ shop_domain: 'toko-7', product_key: 'barang-1001' }), {}],
  [
    '/v1/mktc/pdp/bulk/submit',
    unit({ formattedId: 'ps--GLN-60001-10001', sku: 'GLN-60001-10001-00001' }),
    {},
  ],
  ['/v1/mktd/pdp/bulk/submit', unit({ product_id: '1729000076001', country: 'th' }), {}],
  [
    '/v1/mkte/pdp/bulk/submit',
    unit({ asin: 'B0GLN01001', country: 'us' }),
    { _asin: 'B0GLN01001' },
  ],
];

test.for(both.flatMap((where) => products.map((product) => [where, ...product] as const)))(
  '%s: a submit to %s that waits returns the record of its product',
  async ([where, path, request, record]) => {
    const before = await sendJson('POST', urls[where] + path, user.key, request);
    expect(before.body).not.toHaveProperty('outcome');
    const {
      status,
      body: response,
      headers,
    } = await sendJson('POST', `${urls[where]}${path}?wait=30s`, user.key, request);
    expect([status, headers.get('location')]).toEqual([202, expect.stringMatching(/retrieve/)]);
    const { outcome, ...submitted } = response;
    expect(Object.keys(submitted)).toEqual(Object.keys(before.body));
    expect(submitted.status).toBe(before.body.status);
    expect(outcome).toMatchObject({
      status: 'completed',
      success: 1,
      failed: 0,
      refunded: 0,
      record,
    });
    expect(outcome.item.title).toEqual(expect.any(String));
    // A product that is done at the first look is not waited for.
    expect(headers.get('server-timing') ?? 'wait;dur=0').toMatch(/^wait;dur=\d+$/);
  },
);

test.for(both)(
  '%s: a submit that waits says why its product failed; waits are checked',
  async (where) => {
    const path = `${urls[where]}/v1/mktd/pdp/bulk/submit`;
    const { body: response } = await sendJson(
      'POST',
      `${path}?wait=30`,
      user.key,
      unit({ product_id: '1729000076800', country: 'th' }),
    );
    expect(response.outcome).toMatchObject({
      status: 'failed',
      refunded: 5,
      code: 'page_not_found',
    });
    const refused = await sendJson(
      'POST',
      `${path}?wait=61`,
      user.key,
      unit({ product_id: '1729000076001', country: 'th' }),
    );
    expect([refused.status, refused.body.detail]).toMatchObject([
      422,
      [{ loc: ['query', 'wait'] }],
    ]);
  },
);

test.for(both)('%s: a change of a job ends a wait with its ETag', async (where) => {
  const { body: submitted } = await sendJson(
    'POST',
    `${urls[where]}${variantSold}/submit`,
    user.key,
    body,
  );
  const path = `${urls[where]}${variantSold}/retrieve/${submitted.job_id}`;
  const first = await sendJson('GET', path, user.key);
  expect(first.body.status).toBe('awaiting_approval');
  const known = { 'if-none-match': first.headers.get('etag')! };
  const waiting = sendJson('GET', `${path}?wait=60`, user.key, undefined, known);
  await api.operator('RejectJob', { job_id: submitted.job_id, reason: 'No.' });
  expect((await waiting).body.status).toBe('rejected');
});

test.for(both)('%s: serves Connect on the port of REST', async (where) => {
  const { body: submitted } = await sendJson(
    'POST',
    `${urls[where]}/v1/mkta/get_pc/submit`,
    user.key,
    page,
  );
  await sendJson(
    'GET',
    `${urls[where]}/v1/mkta/get_pc/retrieve/${submitted.task_id}?wait=30`,
    user.key,
  );
  const callRpc = (service: string, key: string, message: object) =>
    sendJson('POST', `${urls[where]}/gleaner.${service}`, key, message);
  const listed = await callRpc('job.v1.JobService/ListJobs', user.key, {
    kind: 'get_pc',
    page_size: 1,
  });
  expect(listed.body.jobs).toMatchObject([{ status: 'completed', ended: true }]);
  const operator = await callRpc('job.v1.JobService/ListJobs', deployment.operatorKey, {
    kind: 'get_pc',
  });
  expect(operator.body.jobs[0]).toMatchObject({ userName: expect.any(String) });
  const nobody = await callRpc('job.v1.JobService/ListJobs', 'nobody', {});
  expect([nobody.status, nobody.body.code]).toEqual([401, 'unauthenticated']);
});

test('streams the results of a job with Brotli, and answers HEAD with the same headers', async () => {
  const submitted = await sendJson('POST', `${urls.serve}/v1/mkta/get_pc/submit`, user.key, page);
  await sendJson('GET', `${urls.serve}${submitted.headers.get('location')}?wait=30`, user.key);
  const { body: listed } = await sendJson(
    'GET',
    `${urls.serve}/v1/jobs?kind=get_pc&page_size=1`,
    user.key,
  );
  const path = `/v1/jobs/${listed.jobs[0].job_id}/results`;
  for (const where of both) {
    const request = (method: string) =>
      fetch(urls[where] + path, {
        method,
        headers: { authorization: `Bearer ${user.key}`, 'accept-encoding': 'br' },
      });
    const whole = await request('GET');
    expect([whole.status, whole.headers.get('content-encoding')]).toEqual([200, 'br']);
    expect((await whole.text()).trim().split('\n')).toHaveLength(1);
    const head = await request('HEAD');
    expect([head.status, head.headers.get('content-type'), await head.text()]).toEqual([
      200,
      whole.headers.get('content-type'),
      '',
    ]);
  }
});

describe('a signed link with a format', () => {
  /** Runs a job and returns the path of the signed link to its only file. */
  const linkOf = async (path: string, item: object): Promise<string> => {
    const { body: job } = await sendJson('POST', `${urls.serve}${path}/submit`, user.key, {
      items: [item],
    });
    await sendJson('GET', `${urls.serve}${path}/retrieve/${job.job_id}?wait=60`, user.key);
    const { body: files } = await sendJson(
      'GET',
      `${urls.serve}/v1/jobs/${job.job_id}/files`,
      user.key,
    );
    const link = new URL(files.files[0].records_url);
    return link.pathname + link.search;
  };
  const get = (where: (typeof both)[number], link: string, key?: string, method = 'GET') =>
    fetch(urls[where] + link, {
      method,
      headers: key === undefined ? {} : { authorization: `Bearer ${key}` },
    });

  test('returns the same records in every format', async () => {
    const link = await linkOf('/v1/mktd/pdp/bulk', { product_id: '1729000078001', country: 'th' });
    for (const format of ['json', 'jsonl', 'csv', 'csv-bom', 'parquet']) {
      const [one, other] = await Promise.all(
        both.map((where) => get(where, `${link}&format=${format}`)),
      );
      expect([one!.status, other!.status], format).toEqual([200, 200]);
      for (const name of [
        'content-type',
        'content-disposition',
        'etag',
        'cache-control',
        'accept-ranges',
      ])
        expect(other!.headers.get(name), `${format} ${name}`).toBe(one!.headers.get(name));
      const [bytes, same] = await Promise.all([one!.bytes(), other!.bytes()]);
      expect(bytes.length).toBeGreaterThan(100);
      expect(Buffer.compare(bytes, same), format).toBe(0);
    }
    const [head] = await Promise.all([get('gateway', `${link}&format=csv`, undefined, 'HEAD')]);
    expect([head.status, await head.text()]).toEqual([200, '']);
  });

  test.for(both)('%s: responds with the errors of the link and its query', async (where) => {
    const link = await linkOf('/v1/mktd/pdp/bulk', { product_id: '1729000078001', country: 'th' });
    const refused = async (query: string) => {
      const response = await get(where, link + query);
      const { detail } = (await response.json()) as { detail: [{ loc: string[] }] };
      return [response.status, detail[0].loc];
    };
    expect(await refused('&format=xlsx')).toEqual([422, ['query', 'format']]);
    expect(await refused('&only=changed')).toEqual([422, ['query', 'format']]);
    expect(await refused('&format=csv&only=changed')).toEqual([422, ['query', 'only']]);
    expect((await get(where, `${link.replace(/.$/, '')}&format=csv`)).status).toBe(403);
  });

  test.for(both)('%s: requires the key of the owner for the file of a search', async (where) => {
    const link = await linkOf('/v1/mktb/search/bulk', { keyword: 'rak 81001', product_limit: 3 });
    const other = await api.createUser(0);
    expect((await get(where, `${link}&format=csv`)).status).toBe(401);
    expect((await get(where, `${link}&format=csv`, other.key)).status).toBe(404);
    const own = await get(where, `${link}&format=jsonl`, user.key);
    expect([own.status, (await own.text()).trim().split('\n').length]).toEqual([200, 3]);
  });
});

test('pending waits are answered at once when the gateway or the service stops', async () => {
  const { body: submitted } = await sendJson(
    'POST',
    `${urls.serve}${variantSold}/submit`,
    user.key,
    body,
  );
  for (const [where, process] of [
    ['gateway', gateway],
    ['serve', deployment.api],
  ] as const) {
    const path = `${urls[where]}${variantSold}/retrieve/${submitted.job_id}?wait=60s`;
    const waiting = sendJson('GET', path, user.key);
    const submitting = sendJson(
      'POST',
      `${urls[where]}${variantSold}/submit?wait=60s`,
      user.key,
      body,
    );
    // A later request on another connection returns only after the first one has been received.
    await sendJson('GET', path.replace('wait=60s', 'wait=1'), user.key);
    const began = Date.now();
    const stopped = process.stop();
    expect((await waiting).body.status).toBe('awaiting_approval');
    const { status, body: response } = await submitting;
    expect([status, response.status, response.outcome]).toEqual([
      202,
      'awaiting_approval',
      undefined,
    ]);
    expect(Date.now() - began).toBeLessThan(2_500 * slack);
    expect(await stopped).toBe(0);
  }
});
