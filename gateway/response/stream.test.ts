import { expect, test } from 'vitest';
import { Fault } from '../../src/contract/fault.ts';
import { suiteGateway, suiteResponders } from '../fixture/suite.ts';

const responders = suiteResponders();
const gateway = suiteGateway(responders);

test('streams pieces with the content type of the first and with backpressure', async () => {
  responders.GetData = async function* () {
    yield { contentType: 'text/csv', data: Buffer.from('a,b\n') };
    for (let count = 0; count < 50; count += 1) yield { data: Buffer.alloc(100_000, 'x') };
  };
  const response = await gateway.ask('/api/shop/data/x');
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/csv']);
  expect((await response.arrayBuffer()).byteLength).toBe(5_000_004);
});

test('sends unencoded text to a client that accepts no encoding', async () => {
  responders.GetData = async function* () {
    yield { contentType: 'text/csv', data: Buffer.from('a,b\n') };
  };
  const response = await gateway.ask('/api/shop/data/x', {
    headers: { 'accept-encoding': 'identity' },
  });
  expect([response.status, await response.text()]).toEqual([200, 'a,b\n']);
  expect(Object.fromEntries(response.headers)).toMatchObject({
    'cache-control': 'no-store',
    vary: 'accept-encoding',
  });
  expect(response.headers.has('content-encoding')).toBe(false);
});

test('sends application/octet-stream without a content type', async () => {
  responders.GetData = async function* () {
    yield { data: Buffer.from('x') };
    yield { data: Buffer.alloc(0) };
    yield { data: Buffer.from('y') };
  };
  const response = await gateway.ask('/api/shop/data/x');
  expect([response.headers.get('content-type'), await response.text()]).toEqual([
    'application/octet-stream',
    'xy',
  ]);
  expect(response.headers.has('vary')).toBe(false);
});

test('flushes an unencoded stream when it pauses', async () => {
  const held = Promise.withResolvers<void>();
  responders.GetData = async function* () {
    yield { contentType: 'text/csv', data: Buffer.from('a\n') };
    await held.promise;
    yield { data: Buffer.from('b\n') };
  };
  const response = await gateway.ask('/api/shop/data/x', {
    headers: { 'accept-encoding': 'identity' },
  });
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  expect((await reader.read()).value).toBe('a\n');
  held.resolve();
  expect((await reader.read()).value).toBe('b\n');
  expect((await reader.read()).done).toBe(true);
});

test('responds with an error to a fault before the first piece', async () => {
  // biome-ignore lint/correctness/useYield: the generator fails before it yields
  responders.GetData = async function* () {
    throw new Fault('malformed', 'The item token is not valid');
  };
  const response = await gateway.ask('/api/shop/data/x');
  expect([response.status, await response.json()]).toMatchObject([
    400,
    { detail: 'The item token is not valid' },
  ]);
});

test('closes the connection on a later fault, so that the client sees an incomplete file', async () => {
  responders.GetData = async function* () {
    yield { contentType: 'text/plain', data: Buffer.from('half') };
    throw new Fault('unavailable', 'gone');
  };
  const whole = gateway.ask('/api/shop/data/x').then((response) => response.text());
  await expect(whole).rejects.toThrow();
});

test('distinguishes an empty stream from an empty piece', async () => {
  responders.GetData = async function* () {
    yield { contentType: 'text/plain', data: Buffer.alloc(0) };
  };
  const empty = await gateway.ask('/api/shop/data/x');
  expect([empty.status, await empty.text()]).toEqual([200, '']);
  responders.GetData = async function* () {};
  const none = await gateway.ask('/api/shop/data/x');
  expect([none.status, none.headers.get('content-type')]).toEqual([500, 'application/json']);
});

test('sends the type to HEAD without the content, and ends the call when the client disconnects', async () => {
  let ended = 0;
  responders.GetData = async function* () {
    try {
      while (true) yield { contentType: 'text/plain', data: Buffer.alloc(100_000) };
    } finally {
      ended += 1;
    }
  };
  const head = await gateway.ask('/api/shop/data/x', { method: 'HEAD' });
  expect([head.status, head.headers.get('content-type')]).toEqual([200, 'text/plain']);
  expect(ended).toBe(1);
  const abort = new AbortController();
  const response = await gateway.ask('/api/shop/data/x', { signal: abort.signal });
  await response.body!.getReader().read();
  abort.abort();
  await expect.poll(() => ended).toBe(2);
  expect(gateway.calls.at(-1)?.context.signal.aborted).toBe(true);
});
