import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import { type ConnectionLimits, defaultConnectionLimits } from '../../base/connections.ts';
import { createApp } from './fixture.ts';
import { type RunningServer, startServer } from './server.ts';

let gateway: RunningServer;
const sockets: Socket[] = [];
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await gateway.close(0);
});

const start = async (limits: Partial<ConnectionLimits>) => {
  gateway = await startServer(createApp(), 0, '127.0.0.1', {
    ...defaultConnectionLimits,
    ...limits,
  });
};

const open = () => {
  const socket = connect(gateway.port, '127.0.0.1').on('error', () => {});
  sockets.push(socket);
  return socket;
};

/**
 * Sends bytes on a new connection; resolves with what was received once the server has closed it.
 */
async function untilClosed(sent: string): Promise<string> {
  const socket = open();
  let received = '';
  socket.on('data', (chunk) => {
    received += chunk.toString('latin1');
  });
  if (sent !== '') socket.write(sent);
  await once(socket, 'close');
  return received;
}

const head = (key: string) =>
  `POST /shop/orders HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\n`;

test.each([
  ['nothing', '', ''],
  ['half of the headers', 'GET / HTTP/1.1\r\nHost: x\r\nX-', '408 Request Timeout'],
  ['half of a body', `${head('key-ann')}Content-Length: 100\r\n\r\n{`, '40'],
  ['no further request', 'GET /health HTTP/1.1\r\nHost: x\r\n\r\n', '200 OK'],
])('closes a connection that sends %s', async (_name, sent, received) => {
  await start({ headersMs: 60, requestMs: 120, idleMs: 60, checkMs: 10 });
  expect(await untilClosed(sent)).toContain(received);
});

describe('with the maximum number of connections, a further one', () => {
  const health = 'GET /health HTTP/1.1\r\nHost: x\r\n\r\n';
  const connected = async (sent = '') => {
    const socket = open();
    await once(socket, 'connect');
    if (sent !== '') socket.write(sent);
    return socket;
  };
  const response = async (socket: Socket) => String((await once(socket, 'data'))[0]);

  test('replaces the oldest without a request', async () => {
    await start({ maxConnections: 3 });
    const used = await connected(health);
    await response(used);
    const [oldest, younger] = [await connected(), await connected()];
    const ended = once(oldest, 'close');
    const further = await connected(health);
    await ended;
    expect(await response(further)).toContain('200 OK');
    for (const socket of [used, younger]) {
      socket.write(health);
      expect(await response(socket)).toContain('200 OK');
    }
    expect(gateway.connections()).toBe(3);
  });

  test('replaces the oldest idle one if all have had a request', async () => {
    await start({ maxConnections: 2 });
    const used = [await connected(health), await connected(health)];
    for (const socket of used) if (socket.bytesRead === 0) await response(socket);
    const ended = once(used[0]!, 'close');
    expect(await response(await connected(health))).toContain('200 OK');
    await ended;
    expect(used[1]!.closed).toBe(false);
  });

  test('replaces an idle one of the account with the most, not an older one of another account', async () => {
    await start({ maxConnections: 4 });
    const listOrders = (key: string) =>
      `GET /shop/orders HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n\r\n`;
    const sockets: Socket[] = [];
    for (const key of ['key-ann', 'key-bob', 'key-bob', 'key-bob']) {
      sockets.push(await connected(listOrders(key)));
      await response(sockets.at(-1)!);
    }
    const ended = once(sockets[1]!, 'close');
    expect(await response(await connected(health))).toContain('200 OK');
    await ended;
    expect(sockets.map(({ closed }) => closed)).toEqual([false, true, false, false]);
  });

  test('is closed if every other one has an accepted request in progress', async () => {
    await start({ maxConnections: 1 });
    const using = await connected(
      `${head('key-ann')}Expect: 100-continue\r\nContent-Length: 100\r\n\r\n`,
    );
    expect(await response(using)).toContain('100 Continue');
    expect(await untilClosed('')).toBe('');
    expect(using.closed).toBe(false);
  });
});

test('closes a connection that sends more than the limit without a valid key', async () => {
  await start({ checkMs: 10, maxRefusedBytes: 10_000 });
  const body = `Content-Length: 1000000\r\n\r\n${' '.repeat(50_000)}`;
  expect(await untilClosed(head('nobody') + body)).toContain('401 Unauthorized');
});

test.each([
  [
    'after the last request',
    'Connection: close\r\n\r\nGET /more HTTP/1.1\r\nHost: x\r\n\r\n',
    [200],
  ],
  ['that are no request', '\r\nno request\r\n\r\n', [200, 400]],
  ['with an invalid Host', '\r\nGET /more HTTP/1.1\r\nHost: one two\r\n\r\n', [200, 400]],
  [
    'with an unknown expectation',
    '\r\nGET /more HTTP/1.1\r\nHost: x\r\nExpect: tea\r\n\r\n',
    [200, 417],
  ],
  ['of a tunnel', '\r\nCONNECT x:443 HTTP/1.1\r\nHost: x:443\r\n\r\n', [200, 400]],
])('responds to a complete request first, despite bytes %s', async (_name, rest, statuses) => {
  const pending: ServerResponse[] = [];
  gateway = await startServer((_request, response) => void pending.push(response), 0, '127.0.0.1');
  const received = untilClosed(`GET /slow HTTP/1.1\r\nHost: x\r\n${rest}`);
  while (pending.length === 0) await setImmediate();
  await setImmediate();
  pending[0]!.end('slow');
  const text = await received;
  expect([...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => Number(status))).toEqual(
    statuses,
  );
  expect(text).toContain('\r\n\r\nslow');
  expect(pending.length).toBe(1);
});
