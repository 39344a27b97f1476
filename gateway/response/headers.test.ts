import { afterEach, expect, test } from 'vitest';
import { Fault } from '../../src/contract/fault.ts';
import {
  packingRetention,
  type Responder,
  recordedCaller,
  startTestGateway,
  type TestGateway,
} from '../fixture/gateway.ts';

const parcel = '6f1c0f3e-54b5-4b0e-9f2d-0a4de2a1b2c3';
const order = '{"lines":[{"item_id":"1","shop_id":"2"}]}';

let gateway: TestGateway;
afterEach(() => gateway.close(0));

const open = async (
  responders: Record<string, Responder>,
  options: Parameters<typeof startTestGateway>[0] = {},
) => {
  const core = recordedCaller(responders);
  gateway = await startTestGateway({ caller: core.caller, ...options });
  return core;
};
const place = (path: string) =>
  gateway.ask(path, {
    method: 'POST',
    body: order,
    headers: { 'content-type': 'application/json' },
  });

test('sends the headers of the session, overridden by those of the call, also with errors', async () => {
  await open({
    GetOrder: () => ({}),
    PlaceOrder: (_message, { responseHeaders }) => {
      responseHeaders['x-balance'] = '480';
      return { number: 7n };
    },
    CancelOrder: (_message, { responseHeaders }) => {
      responseHeaders['x-balance'] = '470';
      throw new Fault('conflict', 'too late');
    },
  });
  const balanceOf = async (asked: Promise<Response>) => {
    const { status, headers } = await asked;
    return [status, headers.get('x-balance')];
  };
  expect(await balanceOf(gateway.ask('/shop/orders/1'))).toEqual([200, '500']);
  expect(await balanceOf(gateway.ask('/shop/orders/x'))).toEqual([422, '500']);
  expect(await balanceOf(place('/shop/orders'))).toEqual([202, '480']);
  expect(await balanceOf(gateway.ask('/shop/orders/1:cancel', { method: 'POST' }))).toEqual([
    409,
    '470',
  ]);
  expect(await balanceOf(gateway.ask('/shop/orders/1', { key: null }))).toEqual([401, null]);
});

test('sends the Location of a created order with 202, in the path form of the request', async () => {
  await open({
    PlaceOrder: () => ({ number: 7n }),
    UploadOrder: () => ({ number: 8n }),
    NoteOrder: () => ({}),
  });
  const locationOf = async (asked: Promise<Response>) => (await asked).headers.get('location');
  expect(await locationOf(place('/api/shop/orders'))).toBe('/api/shop/orders/7');
  expect(await locationOf(place('/shop/orders'))).toBe('/shop/orders/7');
  const note = gateway.ask('/shop/orders/7/note', {
    method: 'PUT',
    body: '{"text":"x"}',
    headers: { 'content-type': 'application/json' },
  });
  expect((await note).status).toBe(200);
  expect(await locationOf(note)).toBeNull();
});

test('responds with 304 to a current ETag of the core even if the links differ', async () => {
  let calls = 0;
  const core = await open({
    GetParcel: (_message, { responseHeaders }) => {
      calls += 1;
      responseHeaders.etag = calls < 4 ? 'W/"one"' : 'W/"two"';
      return { status: 'packing', labelUrl: `https://x/${calls}` };
    },
  });
  const path = `/shop/parcels/${parcel}`;
  const first = await gateway.ask(path);
  expect([first.status, first.headers.get('etag')]).toEqual([200, 'W/"one"']);
  for (const known of ['W/"one"', '"nothing", "one"']) {
    const again = await gateway.ask(path, { headers: { 'if-none-match': known } });
    expect([again.status, await again.text(), again.headers.get('etag')]).toEqual([
      304,
      '',
      'W/"one"',
    ]);
    expect(again.headers.get('x-balance')).toBe('500');
    expect(again.headers.get('content-type')).toBeNull();
  }
  const changed = await gateway.ask(path, { headers: { 'if-none-match': 'W/"one"' } });
  expect([changed.status, changed.headers.get('etag')]).toEqual([200, 'W/"two"']);
  expect(core.calls.at(-1)!.context.ifNoneMatch).toBe('W/"one"');
});

test('derives the ETag of a list from its JSON if the core sends none', async () => {
  let numbers = [1n, 2n];
  await open({ ListOrders: () => ({ numbers }) });
  const tag = (await gateway.ask('/shop/orders')).headers.get('etag')!;
  expect(tag).toMatch(/^W\/"[\w-]{22}"$/);
  const known = { headers: { 'if-none-match': tag } };
  expect((await gateway.ask('/api/shop/orders', known)).status).toBe(304);
  expect((await gateway.ask('/api/shop/orders', { ...known, method: 'HEAD' })).status).toBe(304);
  numbers = [1n, 2n, 3n];
  expect((await gateway.ask('/api/shop/orders', known)).status).toBe(200);
});

test('sends a cached response with its tag, and 304 if the client has it', async () => {
  let calls = 0;
  await open(
    {
      GetParcel: (_message, { responseHeaders }) => {
        calls += 1;
        responseHeaders.etag = 'W/"one"';
        return { status: 'packing' };
      },
    },
    { retention: packingRetention },
  );
  const path = `/shop/parcels/${parcel}`;
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
])('passes wait=%s to the core', async (wait, waitMs) => {
  const core = await open({ GetParcel: () => ({}) });
  expect((await gateway.ask(`/shop/parcels/${parcel}?wait=${wait}`)).status).toBe(200);
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
])('reports wait=%s with the other problems of the query', async (wait, type) => {
  const core = await open({});
  const response = await gateway.ask(`/shop/parcels/no-uuid?wait=${wait}`);
  expect(response.status).toBe(422);
  expect(await response.json()).toMatchObject({
    detail: [
      { loc: ['query', 'wait'], type },
      { loc: ['path', 'parcel_id'], type: 'uuid_parsing' },
    ],
  });
  expect(core.calls).toEqual([]);
});

test('ignores wait for a method that does not wait', async () => {
  const core = await open({ GetOrder: () => ({}) });
  expect((await gateway.ask('/shop/orders/1?wait=soon')).status).toBe(200);
  expect(core.calls[0]!.context.waitMs).toBe(0);
});

test('bypasses the cached response of an unfinished parcel while waiting, and caches the result', async () => {
  let state: { status: string; labelUrl?: string } = { status: 'packing' };
  const core = await open({ GetParcel: () => state }, { retention: packingRetention });
  const statusOf = async (query = '') =>
    ((await (await gateway.ask(`/shop/parcels/${parcel}${query}`)).json()) as { status: string })
      .status;
  expect(await statusOf()).toBe('packing');
  state = { status: 'delivered', labelUrl: 'https://x' };
  expect(await statusOf()).toBe('packing');
  expect(await statusOf('?wait=0')).toBe('packing');
  expect(await statusOf('?wait=30s')).toBe('delivered');
  expect(core.calls).toHaveLength(2);
  expect([await statusOf(), await statusOf('?wait=30s')]).toEqual(['delivered', 'delivered']);
  expect(core.calls).toHaveLength(2);
});

test('aborts the call when the client disconnects while waiting', async () => {
  let started = () => {};
  const arrived = new Promise<void>((resolve) => {
    started = resolve;
  });
  let ended = false;
  await open({
    GetParcel: (_message, { signal }) =>
      new Promise((resolve) => {
        signal.addEventListener('abort', () => {
          ended = true;
          resolve({});
        });
        started();
      }),
  });
  const abort = new AbortController();
  const asked = gateway
    .ask(`/shop/parcels/${parcel}?wait=60`, { signal: abort.signal })
    .catch(() => null);
  await arrived;
  abort.abort();
  await asked;
  await expect.poll(() => ended).toBe(true);
});
