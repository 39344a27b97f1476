import { request as httpRequest } from 'node:http';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { suiteGateway } from '../fixture/suite.ts';

const gateway = suiteGateway({
  PlaceOrder: () => ({}),
  GetOrder: () => ({}),
  CancelOrder: () => ({}),
});

const good = '{"lines":[{"item_id":"1","shop_id":"2"}]}';
const post = (body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = {}) =>
  gateway.ask('/shop/orders', {
    method: 'POST',
    body,
    headers: { 'content-type': 'application/json', ...headers },
  });

test.each([
  ['nothing but a brace', '{'],
  ['a trailing comma', '{"lines":[],}'],
  ['single quotes', "{'lines':[]}"],
  ['two values', '{}{}'],
  ['NaN', '{"weight":NaN}'],
  ['a comment', '{}//'],
  ['a bare word', 'hello'],
  ['an unfinished string', '{"lines'],
  ['a raw newline in a string', '{"country":"i\nd"}'],
  ['a number with a leading zero', '{"pages":01}'],
  ['a NUL', '{}\0'],
  ['bytes that are not UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])],
  ['half a UTF-8 sequence', Buffer.from([0x22, 0xe2, 0x82, 0x22])],
  ['UTF-16', Buffer.from('{"lines":[]}', 'utf16le')],
  ['gzip without saying so', gzipSync(good)],
])('responds to %s with 400', async (_name, body) => {
  const response = await post(body);
  expect([response.status, await response.json()]).toMatchObject([
    400,
    { detail: expect.stringMatching(/not valid/) },
  ]);
});

test.each([
  ['deep lists', `${'['.repeat(100_000)}${']'.repeat(100_000)}`, 422],
  [
    'deep objects in an unknown field',
    good.replace('}]}', `}],"other":${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}}`),
    202,
  ],
  [
    'messages nested deeper than the stack',
    `${'{"inner":'.repeat(100_000)}{}${'}'.repeat(100_000)}`,
    400,
  ],
  ['more values than a request can have', `{"lines":[${'{},'.repeat(200_000)}{}]}`, 413],
  [
    'deep objects beside numeric identifiers',
    `{"lines":[{"item_id":1,"shop_id":2}],"other":1.5,"x":${'['.repeat(100_000)}${']'.repeat(100_000)}}`,
    400,
  ],
  [
    'keys named after Object’s own',
    good.replace(
      '}]}',
      '}],"constructor":{"prototype":{"x":1}},"__proto__":{"country":5},"toString":1,"hasOwnProperty":0}',
    ),
    202,
  ],
  [
    'labels with a key __proto__',
    good.replace('}]}', '}],"labels":{"__proto__":"x","constructor":"y"}}'),
    202,
  ],
  ['a byte order mark', `\ufeff${good}`, 202],
  ['a key that stands twice', good.replace('{', '{"lines":5,'), 202],
  ['a long unknown string', good.replace('{', `{"other":"${'x'.repeat(1_000_000)}",`), 202],
])('handles %s', async (_name, body, status) => {
  expect((await post(body)).status).toBe(status);
  expect(({} as { country?: unknown }).country).toBeUndefined();
});

test('reads __proto__ as an ordinary key of a map', async () => {
  gateway.calls.length = 0;
  await post(good.replace('}]}', '}],"labels":{"__proto__":"x"}}'));
  expect(Object.keys(gateway.calls[0]?.message.labels as object)).toEqual(['__proto__']);
});

test.each([
  'text/plain',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=x',
  'application/json; charset=utf-16',
  'application/jsonx',
  'json',
  '',
])('responds with 415 to the content type "%s"', async (contentType) => {
  const response = await gateway.ask('/shop/orders', {
    method: 'POST',
    body: Buffer.from(good),
    headers: contentType === '' ? {} : { 'content-type': contentType },
  });
  expect([response.status, await response.json()]).toMatchObject([
    415,
    { detail: expect.stringContaining('send application/json') },
  ]);
});

test.each([
  'application/json',
  'Application/JSON; charset=UTF-8',
  'application/json;charset="utf-8"',
  'application/vnd.shop+json',
])('accepts the content type %s', async (contentType) => {
  expect((await post(good, { 'content-type': contentType })).status).toBe(202);
});

test('accepts gzip and limits the decompressed body', async () => {
  expect((await post(gzipSync(good), { 'content-encoding': 'gzip' })).status).toBe(202);
  expect(
    (await post(gzipSync(Buffer.alloc(20_000_000, ' ')), { 'content-encoding': 'gzip' })).status,
  ).toBe(413);
  expect((await post('no gzip', { 'content-encoding': 'gzip' })).status).toBe(400);
  expect((await post(gzipSync(good).subarray(0, 30), { 'content-encoding': 'gzip' })).status).toBe(
    400,
  );
  expect((await post(good, { 'content-encoding': 'br' })).status).toBe(415);
});

test('responds with 413 to a declared or streamed length over the limit', async () => {
  const declared = await post(Buffer.alloc(5_000_000, ' '));
  expect([declared.status, await declared.json()]).toMatchObject([
    413,
    { detail: expect.stringContaining('4000000') },
  ]);
  const endless = new ReadableStream({
    pull: (controller) => controller.enqueue(new Uint8Array(100_000)),
  });
  const streamed = await gateway.ask('/shop/orders', {
    method: 'POST',
    body: endless,
    duplex: 'half',
    headers: { 'content-type': 'application/json' },
  } as RequestInit);
  expect(streamed.status).toBe(413);
});

test('applies the default limit to a method that declares none', async () => {
  const note = (text: string) =>
    gateway.ask('/shop/orders/1/note', {
      method: 'PUT',
      body: JSON.stringify({ text }),
      headers: { 'content-type': 'application/json' },
    });
  expect((await note('x'.repeat(70_000))).status).toBe(413);
});

test('sends 100 Continue only after the request is accepted', async () => {
  const ask = (key: string, length: number) =>
    new Promise<{ status: number; continued: boolean }>((resolve, reject) => {
      let continued = false;
      const request = httpRequest(`${gateway.url}/shop/orders`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${key}`,
          'content-type': 'application/json',
          'content-length': length,
          expect: '100-continue',
        },
      });
      request.on('continue', () => {
        continued = true;
        request.end(good.padEnd(length));
      });
      request.on('response', (response) => {
        response.resume();
        request.destroy();
        resolve({ status: response.statusCode!, continued });
      });
      request.on('error', reject);
      request.flushHeaders();
    });
  expect(await ask('key-ann', 100)).toEqual({ status: 202, continued: true });
  expect(await ask('nobody', 100)).toEqual({ status: 401, continued: false });
  expect(await ask('key-ann', 50_000_000)).toEqual({ status: 413, continued: false });
});

test('ignores a body that the method does not declare', async () => {
  const response = await gateway.ask('/shop/orders/4:cancel', {
    method: 'POST',
    body: '{{{',
    headers: { 'content-type': 'text/plain' },
  });
  expect(response.status).toBe(200);
});

test('an empty body of unknown length counts as no body', async () => {
  const none = await gateway.ask('/shop/orders', { method: 'POST' });
  const empty = await gateway.ask('/shop/orders', {
    method: 'POST',
    body: new Blob([]).stream(),
    duplex: 'half',
  } as RequestInit);
  expect(empty.status).toBe(none.status);
  const { detail } = (await none.json()) as { detail: unknown };
  expect(await empty.json()).toMatchObject({ detail });
});
