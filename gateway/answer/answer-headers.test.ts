import { afterEach, expect, test } from 'vitest';
import { createRateLimit, type RateLimit } from '../../src/access/rate-limit.ts';
import { Fault } from '../../src/contract/fault.ts';
import {
  type Answer,
  handClock,
  recordedCaller,
  startTestGateway,
  type TestGateway,
} from '../fixture/gateway.ts';

const job = '6f1c0f3e-54b5-4b0e-9f2d-0a4de2a1b2c3';
const order = '{"lines":[{"item_id":"1","shop_id":"2"}]}';

let gateway: TestGateway;
afterEach(() => gateway.close(0));

const open = async (
  answers: Record<string, Answer>,
  options: Parameters<typeof startTestGateway>[0] = {},
  rateLimit: RateLimit | null = null,
) => {
  const core = recordedCaller(answers, undefined, rateLimit);
  gateway = await startTestGateway({ caller: core.caller, ...options });
  return core;
};
const place = (path: string) =>
  gateway.ask(path, { method: 'POST', body: order, headers: { 'content-type': 'application/json' } });

test('every authenticated answer says how the key stands with its rate, in the new form and the older one', async () => {
  const clock = handClock();
  await open({ GetOrder: () => ({}) }, { clock }, createRateLimit({ requestsPerSecond: 2, clock }));
  const rateOf = async (path = '/shop/orders/1', key?: string) => {
    const { status, headers } = await gateway.ask(path, key === undefined ? {} : { key });
    const names = ['ratelimit', 'ratelimit-policy', 'limit', 'remaining', 'reset'];
    return [
      status,
      ...names.map((name) => headers.get(name.startsWith('rate') ? name : `x-ratelimit-${name}`)),
    ];
  };
  const policy = '"key";q=2;w=1';
  expect(await rateOf()).toEqual([200, '"key";r=1;t=1', policy, '2', '1', '1']);
  expect(await rateOf('/shop/orders/x')).toEqual([422, '"key";r=0;t=1', policy, '2', '0', '1']);
  expect(await rateOf()).toEqual([429, '"key";r=0;t=1', policy, '2', '0', '1']);
  clock.move(1000);
  expect(await rateOf()).toEqual([200, '"key";r=1;t=1', policy, '2', '1', '1']);
  expect(await rateOf(undefined, 'nobody')).toEqual([401, null, null, null, null, null]);
});

test('a rate of less than one a second is told as one request in a longer window', async () => {
  const rateLimit = createRateLimit({ requestsPerSecond: 0.25, clock: handClock() });
  await open({ GetOrder: () => ({}) }, {}, rateLimit);
  const { headers } = await gateway.ask('/shop/orders/1');
  expect([headers.get('ratelimit-policy'), headers.get('ratelimit')]).toEqual([
    '"key";q=1;w=4',
    '"key";r=0;t=4',
  ]);
});

test('without a limit nothing is said of it', async () => {
  await open({ GetOrder: () => ({}) });
  const { headers } = await gateway.ask('/shop/orders/1');
  expect([...headers.keys()].filter((name) => name.includes('ratelimit'))).toEqual([]);
});

test('credits are those of the key, or what the core says after the call, also where it fails', async () => {
  await open({
    GetOrder: () => ({}),
    PlaceOrder: (_message, { answerHeaders }) => {
      answerHeaders['x-credits-remaining'] = '480';
      return { number: 7n };
    },
    CancelOrder: (_message, { answerHeaders }) => {
      answerHeaders['x-credits-remaining'] = '470';
      throw new Fault('conflict', 'too late');
    },
  });
  const creditsOf = async (asked: Promise<Response>) => {
    const { status, headers } = await asked;
    return [status, headers.get('x-credits-remaining')];
  };
  expect(await creditsOf(gateway.ask('/shop/orders/1'))).toEqual([200, '500']);
  expect(await creditsOf(gateway.ask('/shop/orders/x'))).toEqual([422, '500']);
  expect(await creditsOf(place('/shop/orders'))).toEqual([202, '480']);
  expect(await creditsOf(gateway.ask('/shop/orders/1:cancel', { method: 'POST' }))).toEqual([409, '470']);
  expect(await creditsOf(gateway.ask('/shop/orders/1', { key: null }))).toEqual([401, null]);
});

test('202 says where the order is seen, in the address form of the request', async () => {
  await open({
    PlaceOrder: () => ({ number: 7n }),
    UploadOrder: () => ({ number: 8n }),
    NoteOrder: () => ({}),
  });
  const locationOf = async (asked: Promise<Response>) => (await asked).headers.get('location');
  expect(await locationOf(place('/v1/shop/orders'))).toBe('/v1/shop/orders/7');
  expect(await locationOf(place('/shop/orders'))).toBe('/shop/orders/7');
  const note = gateway.ask('/shop/orders/7/note', {
    method: 'PUT',
    body: '{"text":"x"}',
    headers: { 'content-type': 'application/json' },
  });
  expect((await note).status).toBe(200);
  expect(await locationOf(note)).toBeNull();
});

test('a tag of the core spares the answer that is known, whatever its links are', async () => {
  let calls = 0;
  const core = await open({
    GetProgress: (_message, { answerHeaders }) => {
      calls += 1;
      answerHeaders.etag = calls < 4 ? 'W/"one"' : 'W/"two"';
      return { status: 'processing', downloadUrl: `https://x/${calls}` };
    },
  });
  const path = `/shop/progress/${job}`;
  const first = await gateway.ask(path);
  expect([first.status, first.headers.get('etag')]).toEqual([200, 'W/"one"']);
  for (const known of ['W/"one"', '"nothing", "one"']) {
    const again = await gateway.ask(path, { headers: { 'if-none-match': known } });
    expect([again.status, await again.text(), again.headers.get('etag')]).toEqual([304, '', 'W/"one"']);
    expect(again.headers.get('x-credits-remaining')).toBe('500');
    expect(again.headers.get('content-type')).toBeNull();
  }
  const changed = await gateway.ask(path, { headers: { 'if-none-match': 'W/"one"' } });
  expect([changed.status, changed.headers.get('etag')]).toEqual([200, 'W/"two"']);
  expect(core.calls.at(-1)!.context.ifNoneMatch).toBe('W/"one"');
});

test('a list without a tag of the core has one of its text', async () => {
  let numbers = [1n, 2n];
  await open({ ListOrders: () => ({ numbers }) });
  const tag = (await gateway.ask('/shop/orders')).headers.get('etag')!;
  expect(tag).toMatch(/^W\/"[\w-]{22}"$/);
  const known = { headers: { 'if-none-match': tag } };
  expect((await gateway.ask('/v1/shop/orders', known)).status).toBe(304);
  expect((await gateway.ask('/v1/shop/orders', { ...known, method: 'HEAD' })).status).toBe(304);
  numbers = [1n, 2n, 3n];
  expect((await gateway.ask('/v1/shop/orders', known)).status).toBe(200);
});

test('a kept answer keeps its tag, and a known one of it is spared', async () => {
  let calls = 0;
  await open(
    {
      GetProgress: (_message, { answerHeaders }) => {
        calls += 1;
        answerHeaders.etag = 'W/"one"';
        return { status: 'processing' };
      },
    },
    { retrieveCache: { processingMs: 120_000, completedMs: 86_400_000 } },
  );
  const path = `/shop/progress/${job}`;
  await gateway.ask(path);
  const kept = await gateway.ask(path, { headers: { 'if-none-match': 'W/"one"' } });
  expect([kept.status, kept.headers.get('cache-control')]).toEqual([304, 'private, max-age=120']);
  expect(calls).toBe(1);
});

test.each([
  ['30s', 30_000],
  ['30', 30_000],
  ['60', 60_000],
  ['0', 0],
])('wait=%s is passed to the core', async (wait, waitMs) => {
  const core = await open({ GetProgress: () => ({}) });
  expect((await gateway.ask(`/shop/progress/${job}?wait=${wait}`)).status).toBe(200);
  expect(core.calls[0]!.context.waitMs).toBe(waitMs);
});

test.each([
  ['', 'string_pattern_mismatch'],
  ['soon', 'string_pattern_mismatch'],
  ['-1', 'string_pattern_mismatch'],
  ['1.5', 'string_pattern_mismatch'],
  ['30m', 'string_pattern_mismatch'],
  ['007', 'string_pattern_mismatch'],
  ['61', 'less_than_equal'],
  ['999999999s', 'less_than_equal'],
])('wait=%s is a problem of the query, beside every other', async (wait, type) => {
  const core = await open({});
  const response = await gateway.ask(`/shop/progress/no-uuid?wait=${wait}`);
  expect(response.status).toBe(422);
  expect(await response.json()).toMatchObject({
    detail: [
      { loc: ['query', 'wait'], type },
      { loc: ['path', 'job_id'], type: 'uuid_parsing' },
    ],
  });
  expect(core.calls).toEqual([]);
});

test('where nothing is waited for, wait is any other unknown parameter', async () => {
  const core = await open({ GetOrder: () => ({}) });
  expect((await gateway.ask('/shop/orders/1?wait=soon')).status).toBe(200);
  expect(core.calls[0]!.context.waitMs).toBe(0);
});

test('waiting passes over the kept answer of a running job, and what comes of it is kept', async () => {
  let state: { status: string; downloadUrl?: string } = { status: 'processing' };
  const core = await open(
    { GetProgress: () => state },
    { retrieveCache: { processingMs: 120_000, completedMs: 86_400_000 } },
  );
  const statusOf = async (query = '') =>
    ((await (await gateway.ask(`/shop/progress/${job}${query}`)).json()) as { status: string }).status;
  expect(await statusOf()).toBe('processing');
  state = { status: 'completed', downloadUrl: 'https://x' };
  expect(await statusOf()).toBe('processing');
  expect(await statusOf('?wait=0')).toBe('processing');
  expect(await statusOf('?wait=30s')).toBe('completed');
  expect(core.calls).toHaveLength(2);
  expect([await statusOf(), await statusOf('?wait=30s')]).toEqual(['completed', 'completed']);
  expect(core.calls).toHaveLength(2);
});

test('a client that hangs up while it waits ends the call', async () => {
  let started = () => {};
  const arrived = new Promise<void>((resolve) => {
    started = resolve;
  });
  let ended = false;
  await open({
    GetProgress: (_message, { signal }) =>
      new Promise((resolve) => {
        signal.addEventListener('abort', () => {
          ended = true;
          resolve({});
        });
        started();
      }),
  });
  const abort = new AbortController();
  const asked = gateway.ask(`/shop/progress/${job}?wait=60`, { signal: abort.signal }).catch(() => null);
  await arrived;
  abort.abort();
  await asked;
  await expect.poll(() => ended).toBe(true);
});
