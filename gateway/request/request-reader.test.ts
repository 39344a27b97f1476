import { describe, expect, test } from 'vitest';
import { servedEndpoints } from '../endpoint.ts';
import { shopService } from '../fixture/shop.ts';
import { json, problems, suiteGateway, suiteResponders } from '../fixture/suite.ts';
import { parse } from '../paths/parse.ts';
import { requestReader } from './request-reader.ts';

const responders = suiteResponders();
const gateway = suiteGateway(responders);
const line = { item_id: '1', shop_id: '2' };

test('accepts integers for identifiers and rejects other numbers', async () => {
  responders.PlaceOrder = () => ({});
  const good = await gateway.ask(
    '/shop/orders',
    json('{"lines":[{"item_id":9007199254740991,"shop_id":"007"}],"stops":[5],"weight":1.5}'),
  );
  expect(good.status).toBe(202);
  expect(gateway.calls[0]?.message).toMatchObject({
    lines: [{ itemId: '9007199254740991', shopId: '007' }],
    stops: ['5'],
    weight: 1.5,
  });
  for (const wrong of [
    '1.0',
    '1e3',
    '1.5',
    '9007199254740992',
    '-0',
    'true',
    '[]',
    '{}',
    'null',
    '1e400',
  ]) {
    const body = `{"lines":[{"item_id":3,"shop_id":${wrong}}]}`;
    expect(await problems(await gateway.ask('/shop/orders', json(body)))).toEqual({
      status: 422,
      problems: ['body.lines.0.shop_id string_type'],
    });
  }
  const negative = await gateway.ask(
    '/shop/orders',
    json('{"lines":[{"item_id":-3,"shop_id":"1"}]}'),
  );
  expect(await problems(negative)).toMatchObject({
    problems: ['body.lines.0.item_id string_pattern_mismatch'],
  });
});

test('lists structural and rule problems together, one per location', async () => {
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
    parcel_id: 'no',
    small: -1,
  };
  const response = await problems(await gateway.ask('/shop/orders', json(body)));
  expect(response.status).toBe(422);
  expect(response.problems).toEqual([
    'body.lines.0.item_id string_type',
    'body.lines.0.shop_id missing',
    'body.lines.2 model_attributes_type',
    'body.lines.3.item_id string_too_short',
    'body.lines.3.shop_id string_pattern_mismatch',
    'body.lines.3.amount less_than_equal',
    'body.tags.0 string_too_short',
    'body.tags.1 string_too_long',
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
    'body.country enum',
    'body.budget greater_than_equal',
    'body.customerKey string_too_long',
    'body.email value_error',
    'body.parcel_id uuid_parsing',
  ]);
  expect(gateway.calls).toEqual([]);
});

test('lists at most 100 problems', async () => {
  const response = await problems(
    await gateway.ask('/shop/orders', json({ lines: Array(50_000).fill({}) })),
  );
  expect(response).toMatchObject({ status: 422 });
  expect(response.problems).toHaveLength(100);
  const lines = [
    ...Array(60).fill({ ...line, item_id: true }),
    ...Array(60).fill({ ...line, item_id: 'x' }),
  ];
  const mixed = await problems(await gateway.ask('/shop/orders', json({ lines })));
  expect(mixed.problems).toHaveLength(100);
  expect(mixed.problems.filter((problem) => problem.endsWith(' string_type'))).toHaveLength(60);
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
  [
    'an integer beyond int32',
    json({ lines: [line], pages: 2 ** 31 }),
    'body.pages less_than_equal',
  ],
])('responds to %s with 422', async (_name, init, expected) => {
  expect(await problems(await gateway.ask('/shop/orders', init))).toEqual({
    status: 422,
    problems: [expected],
  });
});

test('locates rule problems in path, query and body', async () => {
  expect(await problems(await gateway.ask('/shop/orders/x'))).toEqual({
    status: 422,
    problems: ['path.number int_parsing'],
  });
  expect(await problems(await gateway.ask('/shop/orders/0'))).toEqual({
    status: 422,
    problems: ['path.number greater_than_equal'],
  });
  expect(await problems(await gateway.ask('/shop/parcels/123'))).toEqual({
    status: 422,
    problems: ['path.parcel_id uuid_parsing'],
  });
  expect(await problems(await gateway.ask('/shop/orders?limit=0'))).toEqual({
    status: 422,
    problems: ['query.limit greater_than_equal'],
  });
  expect(await problems(await gateway.ask('/shop/orders?since=2030-02-30T00:00:00Z'))).toEqual({
    status: 422,
    problems: ['query.since datetime_from_date_parsing'],
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
  expect(
    await problems(await gateway.ask('/shop/orders/x/note', { ...json({}), method: 'PUT' })),
  ).toEqual({
    status: 422,
    problems: ['path.number int_parsing', 'body.text missing'],
  });
});

test('reads null for an optional field as absent', async () => {
  responders.PlaceOrder = () => ({});
  const response = await gateway.ask(
    '/shop/orders',
    json({
      lines: [{ ...line, amount: null }],
      country: null,
      pages: null,
      tags: null,
      inner: null,
    }),
  );
  expect(response.status).toBe(202);
  expect(gateway.calls[0]?.message).toMatchObject({ pages: 7, tags: [], lines: [{ itemId: '1' }] });
  expect(gateway.calls[0]?.message.country).toBeUndefined();
});

test('reads path fields, repeated query fields and a path variable of several segments', async () => {
  responders.GetOrder = () => ({});
  responders.ListOrders = () => ({});
  responders.GetData = async function* () {
    yield { data: Buffer.from('x') };
  };
  await gateway.ask('/shop/orders/7');
  await gateway.ask('/shop/orders?states=a&states=b&limit=6');
  await gateway.ask('/shop/data/a%2Fb/c');
  expect(gateway.calls.map(({ message }) => message)).toMatchObject([
    { number: 7n },
    { states: ['a', 'b'], limit: 6 },
    { name: 'a/b/c' },
  ]);
});

test('reads a single-field body together with path and query fields', async () => {
  responders.NoteOrder = () => ({});
  const note = { ...json({ text: 'fragile' }), method: 'PUT' };
  const response = await gateway.ask('/shop/orders/5/note?quiet=true', note);
  expect(response.status).toBe(200);
  expect(gateway.calls[0]?.message).toMatchObject({
    number: 5,
    note: { text: 'fragile' },
    quiet: true,
  });
  const wrong = { ...json('"fragile"'), method: 'PUT' };
  expect(await problems(await gateway.ask('/shop/orders/5/note', wrong))).toMatchObject({
    problems: ['body model_attributes_type'],
  });
});

test('ignores query parameters with the name of a body field', async () => {
  responders.PlaceOrder = () => ({});
  await gateway.ask('/shop/orders?gift=true&country=xx', json({ lines: [line] }));
  expect(gateway.calls[0]?.message).toMatchObject({ gift: false });
  expect(gateway.calls[0]?.message.country).toBeUndefined();
});

describe('unknown fields', () => {
  const body = {
    lines: [line, { ...line, itemid: '3' }, { ...line, itemid: '4' }],
    'ma\u00e4x': 1,
    __proto: null,
  };
  const names = 'present, lines[].itemid, ma%C3%A4x, __proto';

  test('are ignored, and named once each in X-Ignored-Fields', async () => {
    responders.PlaceOrder = () => ({});
    const response = await gateway.ask('/shop/orders?present=1&present=2', json(body));
    expect([response.status, response.headers.get('x-ignored-fields')]).toEqual([202, names]);
    expect((gateway.calls[0]!.message as { lines: unknown[] }).lines).toHaveLength(3);
  });

  test('are named beside the problems of the request', async () => {
    const response = await gateway.ask('/shop/orders?present=1', json({ ...body, gift: 5 }));
    expect([response.status, response.headers.get('x-ignored-fields')]).toEqual([422, names]);
  });

  test('are problems with X-Strict: true', async () => {
    const response = await gateway.ask(
      '/shop/orders?present=1',
      json(body, { 'x-strict': 'true' }),
    );
    expect(response.headers.get('x-ignored-fields')).toBeNull();
    expect(await problems(response)).toEqual({
      status: 422,
      problems: [
        'query.present extra_forbidden',
        'body.lines.1.itemid extra_forbidden',
        'body.lines.2.itemid extra_forbidden',
        'body.ma\u00e4x extra_forbidden',
        'body.__proto extra_forbidden',
      ],
    });
    expect(gateway.calls).toEqual([]);
  });

  test('names unknown fields of a form, too', async () => {
    const form = new FormData();
    form.set('file', new Blob(['x']), 'x.csv');
    form.set('scrape_again', 'true');
    responders.UploadOrders = () => ({});
    const response = await gateway.ask('/shop/uploads', { method: 'POST', body: form });
    expect(response.headers.get('x-ignored-fields')).toBe('scrape_again');
  });

  test('do not include wait of a method that waits', async () => {
    responders.GetParcel = () => ({});
    const path = '/shop/parcels/0b0e7d5c-94a6-4b33-8f0b-1f2f3a4b5c6d?wait=0';
    expect((await gateway.ask(path)).headers.get('x-ignored-fields')).toBeNull();
    expect((await gateway.ask(`${path}&delay=1`)).headers.get('x-ignored-fields')).toBe('delay');
  });

  test('are limited to 20 names of 64 characters', async () => {
    responders.PlaceOrder = () => ({});
    const many = Object.fromEntries(
      Array.from({ length: 30 }, (_, index) => [`${index}${'x'.repeat(100)}`, 1]),
    );
    const response = await gateway.ask('/shop/orders', json({ lines: [line], ...many }));
    const listed = response.headers.get('x-ignored-fields')!.split(', ');
    expect([listed.length, listed[0]!.length]).toEqual([20, 64]);
  });

  test('are not checked strictly for X-Strict: false, and another value is a problem', async () => {
    responders.PlaceOrder = () => ({});
    const lenient = await gateway.ask(
      '/shop/orders',
      json({ lines: [line], x: 1 }, { 'x-strict': 'false' }),
    );
    expect(lenient.status).toBe(202);
    const wrong = await gateway.ask('/shop/orders', json({ lines: [line] }, { 'x-strict': 'yes' }));
    expect(await problems(wrong)).toEqual({
      status: 422,
      problems: ['header.x-strict bool_parsing'],
    });
  });
});

describe('requestReader()', () => {
  const endpoint = (name: string) =>
    servedEndpoints([shopService], (path) => [path]).find(({ method }) => method.name === name)!;
  const at = (path: string) => ({ body: '', forms: [{ path, template: parse(path) }] });
  const parts = { segments: [], query: new URLSearchParams(), isStrict: false, problems: [] };

  test('refuses unknown query parameters of a submission, and suggests a known one', () => {
    const read = requestReader({ ...endpoint('PlaceOrder'), takesOptions: true });
    const query = new URLSearchParams('max_credits=1&max_credit=1&max_credit=2&colour=red');
    const json = JSON.stringify({ lines: [line], colour: 'red' });
    const type = 'extra_forbidden';
    expect(read({ ...parts, query, json }, []).problems).toEqual([
      {
        loc: ['query', 'max_credit'],
        type,
        msg: 'The query parameter "max_credit" is unknown. Did you mean max_credits?',
      },
      { loc: ['query', 'colour'], type, msg: 'The query parameter "colour" is unknown.' },
    ]);
    query.delete('max_credit');
    query.delete('colour');
    expect(read({ ...parts, query, json }, [])).toEqual({
      message: expect.anything(),
      headers: { 'x-ignored-fields': 'colour' },
    });
  });

  test.each(['tags', 'labels', 'card', 'nothing'])(
    'throws for the path variable %s',
    (variable) => {
      const declared = { ...endpoint('PlaceOrder'), ...at(`/api/x/{${variable}}`) };
      expect(() => requestReader(declared)).toThrow(`${variable} cannot stand in a path`);
    },
  );

  test('reads a path variable into the field of its name', () => {
    const declared = { ...endpoint('ListOrders'), ...at('/api/x/{gift}') };
    const { variables } = declared.forms[0]!.template;
    const { message } = requestReader(declared)(
      { ...parts, segments: ['api', 'x', 'true'] },
      variables,
    );
    expect(message).toMatchObject({ gift: true, limit: 20 });
  });

  test.each(['*', 'limit'])('sets the defaults of the body %s when the body is absent', (body) => {
    const read = requestReader({ ...endpoint('ListOrders'), body });
    expect(read(parts, []).message).toMatchObject({ limit: 20 });
  });

  test('lists problems of headers and describes the expected body', () => {
    const read = requestReader(endpoint('PlaceOrder'));
    const problem = { loc: ['header', 'prefer'], type: 'value_error', msg: 'wrong' };
    expect(read({ ...parts, json: '[]', problems: [problem] }, []).problems).toEqual([
      problem,
      {
        loc: ['body'],
        type: 'model_attributes_type',
        msg: 'Input should be an object. Send {"lines": […]} in place of the list',
      },
    ]);
  });
});
