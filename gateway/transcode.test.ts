import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { Fault } from '../src/base/fault.ts';
import { type Answer, recordedCaller, startTestGateway, type TestGateway } from './fixture/gateway.ts';

const answers: Record<string, Answer> = {};
const core = recordedCaller(answers);
let gateway: TestGateway;

beforeAll(async () => {
  gateway = await startTestGateway({ caller: core.caller });
});
afterAll(() => gateway.close(0));
beforeEach(() => {
  core.calls.length = 0;
  for (const name of Object.keys(answers)) delete answers[name];
});

const json = (body: unknown, headers: Record<string, string> = {}) => ({
  method: 'POST',
  headers: { 'content-type': 'application/json', ...headers },
  body: typeof body === 'string' ? body : JSON.stringify(body),
});
const line = { item_id: '1', shop_id: '2' };
const problems = async (response: Response) => {
  const { detail } = (await response.json()) as { detail: { loc: unknown[]; type: string }[] };
  return { status: response.status, problems: detail.map(({ loc, type }) => `${loc.join('.')} ${type}`) };
};

test('serves both address forms with the declared status', async () => {
  answers.PlaceOrder = () => ({ number: 7n, status: 'placed' });
  for (const path of ['/v1/shop/orders', '/shop/orders']) {
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
  answers.GetOrder = answers.NoteOrder = answers.PlaceOrder = () => ({});
  answers.ListOrders = () => ({ numbers: [1n, 9007199254740993n] });
  await gateway.ask('/shop/orders/42');
  await gateway.ask('/v1/shop/orders/42/note?quiet=yes', { ...json({ text: 'hello' }), method: 'PUT' });
  await gateway.ask('/shop/orders', json({ lines: [line], customerKey: 'c', customer_key: 'ignored' }));
  const listed = await gateway.ask(
    '/shop/orders?states=a&states=b&gift=1&shipping=SHIPPING_AIR&below=1.5&since=2030-01-02T00:00:00Z&unknown=1',
  );
  expect(await listed.text()).toBe('{"numbers":[1,"9007199254740993"]}');
  expect(core.calls.map(({ message }) => message)).toMatchObject([
    { number: 42n },
    { number: 42, quiet: true, note: { text: 'hello' } },
    { pages: 7, customerKey: 'c', lines: [{ itemId: '1', shopId: '2' }] },
    { limit: 20, states: ['a', 'b'], gift: true, shipping: 2, below: 1.5, since: { seconds: 1893542400n } },
  ]);
});

test('takes a path with a verb, and a path of many segments', async () => {
  answers.CancelOrder = ({ number }) => ({ number });
  answers.GetData = async function* ({ name }) {
    yield { contentType: 'text/plain', data: Buffer.from(`${name}`) };
  };
  expect(await (await gateway.ask('/shop/orders/5:cancel', { method: 'POST' })).json()).toMatchObject({
    number: 5,
  });
  expect(await (await gateway.ask('/v1/shop/data/a/b%2Fc/d')).text()).toBe('a/b/c/d');
  expect((await gateway.ask('/v1/shop/data')).status).toBe(404);
});

test('takes integers for identifiers and refuses every other spelling', async () => {
  answers.PlaceOrder = () => ({});
  const good = await gateway.ask(
    '/shop/orders',
    json('{"lines":[{"item_id":9007199254740991,"shop_id":"007"}],"stops":[5],"weight":1.5}'),
  );
  expect(good.status).toBe(202);
  expect(core.calls[0]?.message).toMatchObject({
    lines: [{ itemId: '9007199254740991', shopId: '007' }],
    stops: ['5'],
    weight: 1.5,
  });
  for (const wrong of ['1.0', '1e3', '1.5', '9007199254740992', '-0', 'true', '[]', '{}', 'null', '1e400']) {
    const body = `{"lines":[{"item_id":3,"shop_id":${wrong}}]}`;
    expect(await problems(await gateway.ask('/shop/orders', json(body)))).toEqual({
      status: 422,
      problems: ['body.lines.0.shop_id string_type'],
    });
  }
  const negative = await gateway.ask('/shop/orders', json('{"lines":[{"item_id":-3,"shop_id":"1"}]}'));
  expect(await problems(negative)).toMatchObject({
    problems: ['body.lines.0.item_id string_pattern_mismatch'],
  });
});

test('lists structural and rule problems together, one per place', async () => {
  const body = {
    lines: [{ item_id: true }, line, 'x', { item_id: '', shop_id: 'abc', amount: 1000 }],
    country: 'xx',
    tags: ['', 'toolong', 5],
    gift: 'maybe',
    budget: -1,
    weight: 'heavy',
    shipping: 'SHIPPING_SEA',
    ship_at: 'soon',
    labels: { a: 1 },
    rooms: [],
    card: '***',
    pages: 1.5,
    customerKey: 'x'.repeat(11),
    email: 'nobody',
    credits: 'x',
    stops: {},
    inner: 5,
    job_id: 'no',
    small: -1,
  };
  const answer = await problems(await gateway.ask('/shop/orders', json(body)));
  expect(answer.status).toBe(422);
  expect(answer.problems).toEqual([
    'body.lines.0.item_id string_type',
    'body.lines.0.shop_id missing',
    'body.lines.2 model_attributes_type',
    'body.lines.3.item_id string_too_short',
    'body.tags.2 string_type',
    'body.gift bool_parsing',
    'body.weight float_parsing',
    'body.shipping enum',
    'body.ship_at datetime_from_date_parsing',
    'body.labels.a string_type',
    'body.rooms dict_type',
    'body.card value_error',
    'body.pages int_from_float',
    'body.credits int_parsing',
    'body.stops list_type',
    'body.inner model_attributes_type',
    'body.small greater_than_equal',
    'body.lines.3.shop_id string_pattern_mismatch',
    'body.lines.3.amount less_than_equal',
    'body.country enum',
    'body.tags.0 string_too_short',
    'body.tags.1 string_too_long',
    'body.budget greater_than_equal',
    'body.customerKey string_too_long',
    'body.email value_error',
    'body.job_id uuid_parsing',
  ]);
  expect(core.calls).toEqual([]);
});

test('lists at most 100 problems', async () => {
  const answer = await problems(await gateway.ask('/shop/orders', json({ lines: Array(50_000).fill({}) })));
  expect(answer).toMatchObject({ status: 422 });
  expect(answer.problems).toHaveLength(100);
});

test.each([
  ['no body', { method: 'POST' }, 'body missing'],
  ['an empty body', json(''), 'body missing'],
  ['null', json('null'), 'body model_attributes_type'],
  ['a list', json('[]'), 'body model_attributes_type'],
  ['text', json('"x"'), 'body model_attributes_type'],
  ['a number', json('1.5'), 'body model_attributes_type'],
  ['an empty object', json({}), 'body.lines missing'],
  ['null for a list', json({ lines: null }), 'body.lines list_type'],
  ['an empty list', json({ lines: [] }), 'body.lines too_short'],
  ['a long list', json({ lines: Array(50_001).fill(0) }), 'body.lines too_long'],
  ['an object for a list', json({ lines: { length: 1, 0: line } }), 'body.lines list_type'],
  ['a list of null', json({ lines: [null] }), 'body.lines.0 model_attributes_type'],
  [
    'half a surrogate pair',
    json('{"lines":[{"item_id":"1","shop_id":"2"}],"tags":["\\ud800"]}'),
    'body.tags.0 string_unicode',
  ],
  [
    'members under __proto__',
    json('{"__proto__":{"lines":[{"item_id":"1","shop_id":"2"}]}}'),
    'body.lines missing',
  ],
  [
    'an infinite number',
    json(`{"lines":[${JSON.stringify(line)}],"weight":1e999}`),
    'body.weight finite_number',
  ],
  ['an integer beyond int32', json({ lines: [line], pages: 2 ** 31 }), 'body.pages less_than_equal'],
])('answers 422 to %s', async (_name, init, expected) => {
  expect(await problems(await gateway.ask('/shop/orders', init))).toEqual({
    status: 422,
    problems: [expected],
  });
});

test('rule problems of path, query and body come with their places', async () => {
  expect(await problems(await gateway.ask('/shop/orders/x'))).toEqual({
    status: 422,
    problems: ['path.number int_parsing'],
  });
  expect(await problems(await gateway.ask('/shop/orders/0'))).toEqual({
    status: 422,
    problems: ['path.number greater_than_equal'],
  });
  expect(await problems(await gateway.ask('/shop/progress/123'))).toEqual({
    status: 422,
    problems: ['path.job_id uuid_parsing'],
  });
  expect(await problems(await gateway.ask('/shop/orders?limit=0'))).toEqual({
    status: 422,
    problems: ['query.limit greater_than_equal'],
  });
  const query = '/shop/orders?limit=x&gift=perhaps&shipping=SEA&below=&since=1';
  expect(await problems(await gateway.ask(query))).toEqual({
    status: 422,
    problems: [
      'query.limit int_parsing',
      'query.gift bool_parsing',
      'query.shipping enum',
      'query.below float_parsing',
      'query.since datetime_from_date_parsing',
    ],
  });
  expect(await problems(await gateway.ask('/shop/orders/x/note', { ...json({}), method: 'PUT' }))).toEqual({
    status: 422,
    problems: ['path.number int_parsing', 'body.text missing'],
  });
});

test('null for an optional field is absence, and absence has no key', async () => {
  answers.PlaceOrder = () => ({});
  const response = await gateway.ask(
    '/shop/orders',
    json({ lines: [{ ...line, amount: null }], country: null, pages: null, tags: null, inner: null }),
  );
  expect(response.status).toBe(202);
  expect(core.calls[0]?.message).toMatchObject({ pages: 7, tags: [], lines: [{ itemId: '1' }] });
  expect(core.calls[0]?.message.country).toBeUndefined();
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
  [new Fault('not_found', 'Job not found'), 404, { detail: 'Job not found' }],
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
])('answers %s as the interface says', async (fault, status, body) => {
  answers.GetOrder = () => {
    throw fault;
  };
  const response = await gateway.ask('/v1/shop/orders/1');
  expect(response.status).toBe(status);
  expect(await response.json()).toEqual(body);
  expect(response.headers.get('retry-after')).toBe(status === 429 ? '2' : null);
  expect(response.headers.get('www-authenticate')).toBe(status === 401 ? 'Bearer' : null);
});

test('an internal fault says nothing of what went wrong inside', async () => {
  answers.GetOrder = () => {
    throw new TypeError('secret of the house');
  };
  const response = await gateway.ask('/v1/shop/orders/1', { headers: { 'x-request-id': 'r-1' } });
  expect(response.status).toBe(500);
  expect(await response.text()).toBe('{"detail":"Internal error; request id r-1"}');
});

test('401 comes before the body is looked at, 404 and 405 before 401', async () => {
  for (const key of [null, 'nobody', '']) {
    const response = await gateway.ask('/shop/orders', { ...json('{{{'), key });
    expect([response.status, await response.json()]).toEqual([
      401,
      { detail: 'The API key is missing or not known' },
    ]);
  }
  expect((await gateway.ask('/shop/nothing', { key: null })).status).toBe(404);
  const wrong = await gateway.ask('/shop/orders/1', { method: 'DELETE', key: null });
  expect([wrong.status, wrong.headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS']);
  expect(await wrong.json()).toEqual({ detail: expect.stringContaining('DELETE') });
  const both = await gateway.ask('/v1/shop/orders', { method: 'PATCH', key: null });
  expect(both.headers.get('allow')).toBe('POST, GET, HEAD, OPTIONS');
});

test('unknown paths are 404 with a detail, whatever they look like', async () => {
  for (const path of [
    '/',
    '/v1',
    '/v1/',
    '/shop/orders/',
    '//shop/orders',
    '/v2/shop/orders',
    '/v1/v1/shop/orders',
    '/shop/orders/1/2',
    '/__proto__',
    '/shop/../etc/passwd',
    '/SHOP/orders',
  ]) {
    const response = await gateway.ask(path);
    expect([path, response.status]).toEqual([path, 404]);
    expect(await response.json()).toEqual({ detail: expect.any(String) });
  }
  expect((await gateway.ask('/shop/%6frders?limit=3')).status).toBe(500);
  expect((await gateway.ask('/shop/orders/%ff')).status).toBe(400);
});

test('HEAD answers as GET without a body, OPTIONS says the methods', async () => {
  answers.GetOrder = () => ({ number: 3n });
  const head = await gateway.ask('/shop/orders/3', { method: 'HEAD' });
  const get = await gateway.ask('/shop/orders/3');
  expect([head.status, await head.text()]).toEqual([200, '']);
  expect(head.headers.get('content-length')).toBe(String((await get.text()).length));
  const options = await gateway.ask('/shop/orders/3', { method: 'OPTIONS', key: null });
  expect([options.status, options.headers.get('allow')]).toEqual([204, 'GET, HEAD, OPTIONS']);
  expect((await gateway.ask('/shop/none', { method: 'OPTIONS' })).status).toBe(404);
});

test('the Idempotency-Key goes to the core; one that is no visible ASCII is refused', async () => {
  answers.PlaceOrder = () => ({});
  await gateway.ask('/shop/orders', json({ lines: [line] }, { 'idempotency-key': 'k-1' }));
  expect(core.calls[0]?.context.idempotencyKey).toBe('k-1');
  for (const [key, type] of [
    ['a b', 'string_pattern_mismatch'],
    ['', 'string_pattern_mismatch'],
    ['k'.repeat(256), 'string_too_long'],
  ]) {
    const response = await gateway.ask('/shop/orders', json({ lines: [] }, { 'idempotency-key': key! }));
    expect(await problems(response)).toEqual({
      status: 422,
      problems: [`header.idempotency-key ${type}`, 'body.lines too_short'],
    });
  }
});

test('every answer has a request id: the caller’s when it is sane', async () => {
  const id = async (given?: string) =>
    (
      await gateway.ask('/shop/none', given === undefined ? {} : { headers: { 'x-request-id': given } })
    ).headers.get('x-request-id');
  expect(await id('abc-123')).toBe('abc-123');
  expect(await id()).toMatch(/^[0-9a-f-]{36}$/);
  expect(await id('with space')).toMatch(/^[0-9a-f-]{36}$/);
  expect(await id('x'.repeat(200))).toMatch(/^[0-9a-f-]{36}$/);
});

test('splices stored JSON into the answer byte for byte', async () => {
  answers.GetOrder = () => ({ number: 1n, data: '{"price":1.50,"big":12345678901234567890,"é":"\\u00e9"}' });
  expect(await (await gateway.ask('/shop/orders/1')).text()).toContain(
    '"data":{"price":1.50,"big":12345678901234567890,"é":"\\u00e9"}',
  );
});
