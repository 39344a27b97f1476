import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { freePort } from '../../../test/support/servers/ports.ts';
import type { ResolveName } from '../address.ts';
import { type Egress, type EgressRules, openEgress } from './egress.ts';

const server = createServer((_request, response) => response.end('here'));
let port: number;
let opened: Egress[] = [];
const sockets: Socket[] = [];

/** Addresses of all names, one per lookup. The last one repeats. */
let addresses: string[];
const resolve: ResolveName = (_host, _options, callback) => {
  const address = addresses.length > 1 ? addresses.shift()! : addresses[0]!;
  callback(null, [{ address, family: address.includes(':') ? 6 : 4 }]);
};

beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  port = (server.address() as AddressInfo).port;
});

afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await Promise.all(opened.splice(0).map((egress) => egress.close()));
});

afterAll(() => {
  server.closeAllConnections();
  server.close();
});

async function newEgress(rules: Partial<EgressRules> = {}): Promise<Egress> {
  addresses = ['127.0.0.1'];
  const open = await openEgress({
    origin: 'https://shop.example',
    allowPrivate: false,
    resolve,
    ...rules,
  });
  opened.push(open);
  return open;
}

async function socketTo({ proxy }: Egress): Promise<Socket> {
  const socket = connect(Number(new URL(proxy).port), '127.0.0.1');
  socket.on('error', () => {});
  sockets.push(socket);
  await once(socket, 'connect');
  return socket;
}

/** Connects to a host, given by name or by the bytes of an address, and returns the reply code. */
async function connectTo(
  egress: Egress,
  host: string | number[],
  at = port,
): Promise<{ code: number; socket: Socket }> {
  const socket = await socketTo(egress);
  socket.write(Buffer.from([5, 1, 0]));
  expect((await once(socket, 'data'))[0]).toEqual(Buffer.from([5, 0]));
  const place =
    typeof host === 'string'
      ? [3, host.length, ...Buffer.from(host, 'latin1')]
      : [host.length === 4 ? 1 : 4, ...host];
  const request = Buffer.from([5, 1, 0, ...place, at >> 8, at & 255]);
  // Sent in two parts, as a network may deliver it.
  socket.write(request.subarray(0, 6));
  socket.write(request.subarray(6));
  const [reply] = (await once(socket, 'data')) as [Buffer];
  return { code: reply[1]!, socket };
}

test('the configured origin may have a private address', async () => {
  const egress = await newEgress({ origin: `http://127.0.0.1:${port}` });
  const { code, socket } = await connectTo(egress, '127.0.0.1');
  expect(code).toBe(0);
  socket.write('GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n');
  let text = '';
  for await (const chunk of socket) text += chunk;
  expect(text).toMatch(/\r\n\r\nhere$/);
  expect(egress.faultOf(`http://127.0.0.1:${port}/`)).toBeUndefined();
});

test.each([
  ['127.0.0.1'],
  ['localhost'],
  ['2130706433'],
  ['0x7f.1'],
  ['::1'],
  ['[::1]'],
  ['::ffff:127.0.0.1'],
  ['169.254.169.254'],
  ['metadata.example'],
  [[127, 0, 0, 1]],
  [[10, 0, 0, 1]],
  [[0, 0, 0, 0]],
  [[...new Array(15).fill(0), 1]],
  [[0xfe, 0x80, ...new Array(13).fill(0), 1]],
])('a connection to the private address %j is refused', async (host) => {
  const egress = await newEgress();
  expect((await connectTo(egress, host)).code).toBe(2);
});

test('another port of the origin’s host is refused', async () => {
  const egress = await newEgress({ origin: `http://127.0.0.1:${port + 1}` });
  expect((await connectTo(egress, '127.0.0.1')).code).toBe(2);
  expect(egress.faultOf(`http://127.0.0.1:${port}/page`)).toMatchObject({
    code: 'address_refused',
  });
});

test('a name that resolves to a private address is refused', async () => {
  const egress = await newEgress();
  addresses = ['127.0.0.1'];
  expect((await connectTo(egress, 'rebinding.example')).code).toBe(2);
  expect(egress.faultOf(`http://rebinding.example:${port}/`)).toMatchObject({
    code: 'address_refused',
    message: expect.stringContaining('rebinding.example resolves to 127.0.0.1'),
  });
});

test('private addresses are allowed if allow_private is set', async () => {
  expect((await connectTo(await newEgress({ allowPrivate: true }), '127.0.0.1')).code).toBe(0);
});

test('faultOf() returns the fault of an unreachable host until it is reachable', async () => {
  const egress = await newEgress({ allowPrivate: true });
  server.closeAllConnections();
  const other = await freePort();
  expect((await connectTo(egress, '127.0.0.1', other)).code).toBe(4);
  const url = `http://127.0.0.1:${other}/`;
  expect(egress.faultOf(url)).toMatchObject({
    code: 'network',
    message: expect.stringContaining('refused'),
  });
  const late = createServer().listen(other, '127.0.0.1');
  await once(late, 'listening');
  expect((await connectTo(egress, '127.0.0.1', other)).code).toBe(0);
  expect(egress.faultOf(url)).toBeUndefined();
  late.close();
});

test.each([
  ['SOCKS 4', [4, 1, 0, 80, 127, 0, 0, 1, 0]],
  ['a SOCKS 5 greeting with authentication only', [5, 1, 2]],
  ['HTTP', [...Buffer.from('GET / HTTP/1.1\r\n\r\n')]],
])('a client that sends %s is disconnected', async (_what, bytes) => {
  const socket = await socketTo(await newEgress());
  socket.write(Buffer.from(bytes));
  socket.resume();
  await once(socket, 'close');
});

test('close() closes all connections', async () => {
  const egress = await newEgress({ origin: `http://127.0.0.1:${port}` });
  const { socket } = await connectTo(egress, '127.0.0.1');
  socket.resume();
  await Promise.all([once(socket, 'close'), egress.close()]);
  opened = [];
});
