import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterEach, expect, test } from 'vitest';
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
  gateway = await startServer(createApp(), 0, '127.0.0.1', { ...defaultConnectionLimits, ...limits });
};

const open = () => {
  const socket = connect(gateway.port, '127.0.0.1').on('error', () => {});
  sockets.push(socket);
  return socket;
};

/** Sends bytes on a new connection; resolves with what was received once the server has closed it. */
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

test('closes a connection that is one too many', async () => {
  await start({ maxConnections: 1 });
  await once(open(), 'connect');
  expect(await untilClosed('')).toBe('');
});

test('closes a connection that sends more than the limit without a valid key', async () => {
  await start({ checkMs: 10, maxRefusedBytes: 10_000 });
  const body = `Content-Length: 1000000\r\n\r\n${' '.repeat(50_000)}`;
  expect(await untilClosed(head('nobody') + body)).toContain('401 Unauthorized');
});

test('refuses a request with two Host headers', async () => {
  const server = await startServer((_request, response) => void response.end('served'), 0, '127.0.0.1');
  try {
    const socket = connect(server.port, '127.0.0.1');
    socket.write('GET / HTTP/1.1\r\nHost: one.example\r\nhost: two.example\r\n\r\n');
    const reply = Buffer.concat(await socket.toArray()).toString();
    expect(reply).toMatch(/^HTTP\/1\.1 400 /);
    expect(reply).toContain('"code":"malformed"');
  } finally {
    await server.close(0);
  }
});
