import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { startReceiver, type WebhookReceiver } from '../../test/support/servers/receiver.ts';
import type { ResolveName } from '../fetch/address.ts';
import { createPoster, type Poster } from './post.ts';

const never = new AbortController().signal;
let receiver: WebhookReceiver;
const posters: Poster[] = [];
beforeEach(async () => {
  receiver = await startReceiver();
});
afterEach(async () => {
  for (const poster of posters.splice(0)) await poster.close();
  await receiver.close();
});

function poster(totalMs = 5_000, resolve?: ResolveName): Poster {
  const made = createPoster({ totalMs, ...(resolve ? { resolve } : {}) });
  posters.push(made);
  return made;
}

const message = (url: string, guarded = false) => ({
  url,
  guarded,
  headers: { 'content-type': 'application/json', 'webhook-id': 'x' },
  body: '{"a":"☃"}',
});

test('post() sends a message and returns the response', async () => {
  receiver.respondWith((_request, response) =>
    response.writeHead(202, { 'x-a': 'b' }).end('thanks'),
  );
  const response = await poster().post(message(`${receiver.url}?token=1`), never);
  expect(response).toMatchObject({ status: 202, text: 'thanks', headers: { 'x-a': 'b' } });
  expect(receiver.received).toMatchObject([
    {
      path: '/hook?token=1',
      body: '{"a":"☃"}',
      headers: { 'webhook-id': 'x', 'content-length': '11' },
    },
  ]);
});

test('post() returns redirects', async () => {
  receiver.respondWith((_request, response) =>
    response.writeHead(307, { location: receiver.url }).end(),
  );
  expect(await poster().post(message(receiver.url), never)).toMatchObject({ status: 307 });
  expect(receiver.received).toHaveLength(1);
});

test('post() reads only the start of an endless response', async () => {
  let sent = 0;
  receiver.respondWith((_request, response) => {
    response.writeHead(200);
    const chunk = Buffer.alloc(64 * 1024, 'x');
    const push = () => {
      while (!response.destroyed && response.write(chunk)) sent += chunk.length;
    };
    response.on('drain', push);
    push();
  });
  const response = await poster().post(message(receiver.url), never);
  expect(response.status).toBe(200);
  expect(response.text).toHaveLength(8 * 1024);
  expect(sent).toBeLessThan(16 * 1024 * 1024);
});

test('post() returns the status of a response that stalls', async () => {
  receiver.respondWith((_request, response) => void response.writeHead(200).write('slow'));
  expect(await poster(100).post(message(receiver.url), never)).toMatchObject({
    status: 200,
    text: 'slow',
  });
});

test('post() rejects with page_timeout if the receiver does not respond', async () => {
  receiver.respondWith(() => {});
  await expect(poster(50).post(message(receiver.url), never)).rejects.toMatchObject({
    code: 'page_timeout',
    message: `127.0.0.1:${receiver.port}: no response within 50 ms`,
  });
});

test('post() rejects with network if the connection is reset or refused', async () => {
  receiver.respondWith((request) => request.socket.resetAndDestroy());
  const { post } = poster();
  await expect(post(message(receiver.url), never)).rejects.toMatchObject({ code: 'network' });
  await expect(post(message('http://127.0.0.1:1/'), never)).rejects.toMatchObject({
    code: 'network',
  });
});

test('post() rejects with the reason of an aborted signal', async () => {
  receiver.respondWith(() => {});
  const stop = new AbortController();
  const { post } = poster();
  const posted = post(message(receiver.url), stop.signal);
  await receiver.waitForMessages(1);
  stop.abort(new Error('stopped'));
  await expect(posted).rejects.toThrow('stopped');
  await expect(post(message(receiver.url), stop.signal)).rejects.toThrow('stopped');
});

describe('send()', () => {
  const file = (url: string, body: AsyncIterable<Uint8Array> | null, length: number) => ({
    url,
    method: 'PUT' as const,
    guarded: false,
    headers: { 'content-type': 'text/csv', 'content-length': `${length}` },
    body,
    totalMs: 5_000,
  });
  async function* chunks(count: number) {
    for (let turn = 0; turn < count; turn += 1) yield Buffer.alloc(65_536, turn);
  }

  test('streams a file of known length and returns the response', async () => {
    receiver.respondWith((_request, response) => response.writeHead(201).end('stored'));
    const response = await poster().send(file(receiver.url, chunks(40), 40 * 65_536), never);
    expect(response).toMatchObject({ status: 201, text: 'stored' });
    expect(receiver.received).toMatchObject([{ headers: { 'content-length': `${40 * 65_536}` } }]);
    expect(receiver.received[0]!.headers['transfer-encoding']).toBeUndefined();
    expect(receiver.received[0]!.body).toHaveLength(40 * 65_536);
  });

  test('deletes a file', async () => {
    const request = { ...file(receiver.url, null, 0), method: 'DELETE' as const, headers: {} };
    expect(await poster().send(request, never)).toMatchObject({ status: 204 });
    expect(receiver.received).toMatchObject([{ body: '' }]);
  });

  test('rejects with the error of the file', async () => {
    async function* failing() {
      yield* chunks(2);
      throw new Error('the storage failed');
    }
    await expect(poster().send(file(receiver.url, failing(), 40 * 65_536), never)).rejects.toThrow(
      'the storage failed',
    );
    expect(receiver.received).toEqual([]);
  });

  test('rejects if the file is shorter or longer than its stated length', async () => {
    for (const length of [1, 3])
      await expect(
        poster().send(file(receiver.url, chunks(2), length * 65_536), never),
      ).rejects.toMatchObject({ code: 'network' });
  });

  test('refuses a private address if guarded', async () => {
    const request = { ...file(receiver.url, chunks(1), 65_536), guarded: true };
    await expect(poster().send(request, never)).rejects.toMatchObject({ code: 'address_refused' });
  });
});

describe('a guarded message is refused for', () => {
  const refused = { code: 'address_refused' };

  test.each([
    'http://127.0.0.1:9/',
    'http://2130706433/',
    'http://0x7f.1/',
    'http://[::1]:9/',
    'http://[::ffff:10.0.0.1]/',
    'http://10.1.2.3/',
    'http://192.168.0.1/',
    'http://169.254.169.254/latest/meta-data/',
    'http://[fd00:ec2::254]/',
    'http://100.64.0.1/',
    'http://0.0.0.0/',
  ])('%s', async (url) => {
    await expect(poster().post(message(url, true), never)).rejects.toMatchObject(refused);
  });

  test('the name of this machine', async () => {
    const url = `http://localhost:${receiver.port}/hook`;
    await expect(poster().post(message(url, true), never)).rejects.toMatchObject(refused);
    expect(receiver.received).toEqual([]);
    // The unguarded message shows that the receiver is reachable.
    expect(await poster().post(message(url), never)).toMatchObject({ status: 204 });
  });

  test('names that resolve to a private address, among public ones or only the second time', async () => {
    const results = [
      [{ address: '10.0.0.8', family: 4 }],
      [
        { address: '203.0.113.9', family: 4 },
        { address: '127.0.0.1', family: 4 },
      ],
      [{ address: '::ffff:127.0.0.1', family: 6 }],
    ];
    let lookups = 0;
    const resolve: ResolveName = (_host, _options, callback) => callback(null, results[lookups++]!);
    const { post } = poster(5_000, resolve);
    for (const _ of results) {
      const url = `http://hooks.example.com:${receiver.port}/hook`;
      await expect(post(message(url, true), never)).rejects.toMatchObject(refused);
    }
    expect(lookups).toBe(3);
    expect(receiver.received).toEqual([]);
  });
});
