import { expect, test } from 'vitest';
import type { GatewayBudget } from '../src/contract/caller.ts';
import { Fault } from '../src/contract/fault.ts';
import { recordedCaller, startTestGateway } from './fixture/gateway.ts';
import { json, problems, suiteGateway, suiteResponders } from './fixture/suite.ts';

const responders = suiteResponders();
const gateway = suiteGateway(responders);
const line = { item_id: '1', shop_id: '2' };

test('serves every path form with the declared status', async () => {
  responders.PlaceOrder = () => ({ number: 7n, status: 'placed' });
  for (const path of ['/api/shop/orders', '/shop/orders']) {
    const response = await gateway.ask(path, json({ lines: [line] }));
    expect(response.status).toBe(202);
    expect(response.headers.get('content-type')).toBe('application/json');
    expect(await response.json()).toEqual({
      number: 7,
      status: 'placed',
      error: null,
      data: null,
      lines: [],
      shipped_at: null,
      shipping: 'SHIPPING_UNSPECIFIED',
      customerKey: '',
      progress: 0,
      labels: {},
    });
  }
});

test('reads path, body, query and their defaults into the message', async () => {
  responders.GetOrder = responders.NoteOrder = responders.PlaceOrder = () => ({});
  responders.ListOrders = () => ({ numbers: [1n, 9007199254740993n] });
  await gateway.ask('/shop/orders/42');
  await gateway.ask('/api/shop/orders/42/note?quiet=yes', {
    ...json({ text: 'hello' }),
    method: 'PUT',
  });
  await gateway.ask(
    '/shop/orders',
    json({ lines: [line], customerKey: 'c', customer_key: 'ignored' }),
  );
  const listed = await gateway.ask(
    '/shop/orders?states=a&states=b&gift=1&shipping=SHIPPING_AIR&below=1.5&since=2030-01-02T00:00:00Z&unknown=1',
  );
  expect(await listed.text()).toBe('{"numbers":[1,"9007199254740993"]}');
  expect(gateway.calls.map(({ message }) => message)).toMatchObject([
    { number: 42n },
    { number: 42, quiet: true, note: { text: 'hello' } },
    { pages: 7, customerKey: 'c', lines: [{ itemId: '1', shopId: '2' }] },
    {
      limit: 20,
      states: ['a', 'b'],
      gift: true,
      shipping: 2,
      below: 1.5,
      since: { seconds: 1893542400n },
    },
  ]);
});

test('matches a path with a verb and a path of many segments', async () => {
  responders.CancelOrder = ({ number }) => ({ number });
  responders.GetData = async function* ({ name }) {
    yield { contentType: 'text/plain', data: Buffer.from(`${name}`) };
  };
  expect(
    await (await gateway.ask('/shop/orders/5:cancel', { method: 'POST' })).json(),
  ).toMatchObject({
    number: 5,
  });
  expect(await (await gateway.ask('/api/shop/data/a/b%2Fc/d')).text()).toBe('a/b/c/d');
  expect((await gateway.ask('/api/shop/data')).status).toBe(404);
});

test.each<[Fault, number, object]>([
  [new Fault('unauthenticated', 'no'), 401, { detail: 'no' }],
  [
    new Fault('insufficient_credits', 'short', { quota: { required: 100, current: 30 } }),
    402,
    { detail: 'short', required: 100, current: 30, shortfall: 70 },
  ],
  [new Fault('forbidden', 'no'), 403, { detail: 'no' }],
  [new Fault('link_invalid', 'no'), 403, { detail: 'no' }],
  [new Fault('not_found', 'Order not found'), 404, { detail: 'Order not found' }],
  [new Fault('conflict', 'other body'), 409, { detail: 'other body' }],
  [new Fault('malformed', 'bad token'), 400, { detail: 'bad token' }],
  [new Fault('too_large', 'big'), 413, { detail: 'big' }],
  [new Fault('unsupported_media', 'odd'), 415, { detail: 'odd' }],
  [
    Fault.invalid(['body', 'file', 3, 'item_id'], 'Field required', 'missing'),
    422,
    { detail: [{ loc: ['body', 'file', 3, 'item_id'], msg: 'Field required', type: 'missing' }] },
  ],
  [new Fault('rate_limited', 'slow', { retryAfterMs: 1500 }), 429, { detail: 'slow' }],
  [new Fault('unavailable', 'store is down'), 502, { detail: 'store is down' }],
])('responds to the fault %s as documented', async (fault, status, body) => {
  responders.GetOrder = () => {
    throw fault;
  };
  const response = await gateway.ask('/api/shop/orders/1');
  expect(response.status).toBe(status);
  const members = { code: fault.code, request_id: response.headers.get('x-request-id') };
  expect(await response.json()).toEqual({ ...body, ...members });
  expect(response.headers.get('retry-after')).toBe(status === 429 ? '2' : null);
  expect(response.headers.get('www-authenticate')).toBe(status === 401 ? 'Bearer' : null);
});

test('responds with 500 to a response header of the service that is not valid', async () => {
  responders.GetOrder = (_message, { responseHeaders }) => {
    responseHeaders['x-note'] = 'two\nlines';
    return {};
  };
  const response = await gateway.ask('/shop/orders/1');
  expect(response.status).toBe(500);
  expect(await response.json()).toMatchObject({ code: 'internal' });
  expect(response.headers.get('x-note')).toBeNull();
  expect(response.headers.get('x-request-id')).toMatch(/./);
  expect(response.headers.get('x-content-type-options')).toBe('nosniff');
});

test('hides the message of an internal fault', async () => {
  responders.GetOrder = () => {
    throw new TypeError('secret of the house');
  };
  const response = await gateway.ask('/api/shop/orders/1', { headers: { 'x-request-id': 'r-1' } });
  expect(response.status).toBe(500);
  expect(await response.text()).toBe(
    '{"detail":"Internal error; request id r-1","code":"internal","request_id":"r-1"}',
  );
});

test('checks the path, then the method, then the key, then the body', async () => {
  for (const key of [null, 'nobody', '']) {
    const response = await gateway.ask('/shop/orders', { ...json('{{{'), key });
    expect([response.status, await response.json()]).toMatchObject([
      401,
      { detail: 'The API key is missing or not known', code: 'unauthenticated' },
    ]);
  }
  expect((await gateway.ask('/shop/nothing', { key: null })).status).toBe(404);
  const wrong = await gateway.ask('/shop/orders/1', { method: 'DELETE', key: null });
  expect([wrong.status, wrong.headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS']);
  expect(await wrong.json()).toEqual({
    detail: expect.stringContaining('DELETE'),
    code: 'method_not_allowed',
    request_id: expect.any(String),
  });
  const both = await gateway.ask('/api/shop/orders', { method: 'PATCH', key: null });
  expect(both.headers.get('allow')).toBe('POST, GET, HEAD, OPTIONS');
});

test('responds to unknown paths with 404 and a detail', async () => {
  for (const path of [
    '/',
    '/api',
    '/api/',
    '/shop/orders/',
    '//shop/orders',
    '/v2/shop/orders',
    '/api/v1/shop/orders',
    '/shop/orders/1/2',
    '/__proto__',
    '/shop/../etc/passwd',
    '/SHOP/orders',
  ]) {
    const response = await gateway.ask(path);
    expect([path, response.status]).toEqual([path, 404]);
    expect(await response.json()).toEqual({
      detail: expect.any(String),
      code: 'not_found',
      request_id: expect.any(String),
    });
  }
  expect((await gateway.ask('/shop/%6frders?limit=3')).status).toBe(500);
  expect((await gateway.ask('/shop/orders/%ff')).status).toBe(400);
});

test('names the nearest path to an unknown one', async () => {
  const detailOf = async (path: string) => {
    const body = (await (await gateway.ask(path)).json()) as { detail: string };
    return body.detail;
  };
  expect(await detailOf('/shop/order?limit=3')).toBe(
    'No such path: "/shop/order". Did you mean /shop/orders?',
  );
  expect(await detailOf('/api/shop/order/3')).toBe(
    'No such path: "/api/shop/order/3". Did you mean /api/shop/orders/{number}?',
  );
  expect(await detailOf('/elsewhere')).toBe('No such path: "/elsewhere"');
});

test('responds to HEAD as to GET without a body, and to OPTIONS with the methods', async () => {
  responders.GetOrder = () => ({ number: 3n });
  const head = await gateway.ask('/shop/orders/3', { method: 'HEAD' });
  const get = await gateway.ask('/shop/orders/3');
  expect([head.status, await head.text()]).toEqual([200, '']);
  expect(head.headers.get('content-length')).toBe(String((await get.text()).length));
  const options = await gateway.ask('/shop/orders/3', { method: 'OPTIONS', key: null });
  expect([options.status, options.headers.get('allow')]).toEqual([204, 'GET, HEAD, OPTIONS']);
  expect((await gateway.ask('/shop/none', { method: 'OPTIONS' })).status).toBe(404);
});

test('passes the Idempotency-Key to the core and rejects characters other than visible ASCII', async () => {
  responders.PlaceOrder = () => ({});
  await gateway.ask('/shop/orders', json({ lines: [line] }, { 'idempotency-key': 'k-1' }));
  expect(gateway.calls[0]?.context.idempotencyKey).toBe('k-1');
  for (const [key, type] of [
    ['a b', 'string_pattern_mismatch'],
    ['', 'string_pattern_mismatch'],
    ['k'.repeat(256), 'string_too_long'],
  ]) {
    const response = await gateway.ask(
      '/shop/orders',
      json({ lines: [] }, { 'idempotency-key': key! }),
    );
    expect(await problems(response)).toEqual({
      status: 422,
      problems: [`header.idempotency-key ${type}`, 'body.lines too_short'],
    });
  }
});

test('returns a request id with every response: the one of the caller if it is valid', async () => {
  const id = async (given?: string) =>
    (
      await gateway.ask(
        '/shop/none',
        given === undefined ? {} : { headers: { 'x-request-id': given } },
      )
    ).headers.get('x-request-id');
  expect(await id('abc-123')).toBe('abc-123');
  expect(await id()).toMatch(/^[0-9a-f-]{36}$/);
  expect(await id('with space')).toMatch(/^[0-9a-f-]{36}$/);
  expect(await id('x'.repeat(200))).toMatch(/^[0-9a-f-]{36}$/);
});

test('copies stored JSON into the response byte for byte', async () => {
  responders.GetOrder = () => ({
    number: 1n,
    data: '{"price":1.50,"big":12345678901234567890,"é":"\\u00e9"}',
  });
  expect(await (await gateway.ask('/shop/orders/1')).text()).toContain(
    '"data":{"price":1.50,"big":12345678901234567890,"é":"\\u00e9"}',
  );
});

/** Returns an order whose response is longer than what a connection holds. */
const largeOrder = () => ({ number: 1n, status: 'x'.repeat(30_000_000) });
const fail = () => {
  throw new Fault('unavailable', 'closed');
};

test.each([
  ['a message', largeOrder, 202],
  ['an error', fail, 502],
])(
  'frees the memory of a body at the end of a call that returns %s, before the client has read it',
  async (_what, PlaceOrder, status) => {
    const held = new Set<number>();
    const freed = Promise.withResolvers<void>();
    const budget: GatewayBudget = {
      reserve: async (_userId, bytes) => {
        held.add(bytes);
        return () => {
          held.delete(bytes);
          freed.resolve();
        };
      },
    };
    const { caller } = recordedCaller({ PlaceOrder });
    const shop = await startTestGateway({ caller, budget });
    const lines = Array.from({ length: 5_000 }, () => line);
    const response = await shop.ask('/shop/orders', json({ lines }));
    expect(response.status).toBe(status);
    await freed.promise;
    expect(held.size).toBe(0);
    await response.body!.cancel();
    await shop.close();
  },
);
