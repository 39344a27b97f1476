import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import {
  type ProxyBehavior,
  type RunningProxy,
  startHttpProxy,
  startSocksProxy,
} from '../../../test/support/proxy.ts';
import { openEgress } from './egress.ts';
import { connectThrough } from './proxied.ts';

const clock = { now: () => 0, sleep: async () => {} };
const server = createServer((_request, response) => response.end('here'));
const stops: (() => Promise<unknown>)[] = [];
let port: number;

beforeEach(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  port = (server.address() as AddressInfo).port;
});

afterEach(async () => {
  await Promise.all(stops.splice(0).map((stop) => stop()));
  server.closeAllConnections();
  await new Promise((done) => server.close(done));
});

async function proxy(
  start: typeof startHttpProxy,
  behaviour: Partial<ProxyBehavior> = {},
): Promise<RunningProxy> {
  const running = await start({ to: port, ...behaviour });
  stops.push(running.stop);
  return running;
}

/** What comes back for a request to a host by the way out, or '' where it is refused. */
async function ask(way: string, host: string): Promise<string> {
  const socket = connect(Number(new URL(way).port), '127.0.0.1');
  try {
    await once(socket, 'connect');
    socket.write(Buffer.from([5, 1, 0]));
    await once(socket, 'data');
    socket.write(Buffer.from([5, 1, 0, 3, host.length, ...Buffer.from(host), 0, 80]));
    const [reply] = (await once(socket, 'data')) as [Buffer];
    if (reply[1] !== 0) return '';
    socket.write(`GET / HTTP/1.1\r\nhost: ${host}\r\nconnection: close\r\n\r\n`);
    let text = '';
    for await (const chunk of socket) text += chunk;
    return text.slice(text.indexOf('\r\n\r\n') + 4);
  } finally {
    socket.destroy();
  }
}

async function wayThrough(...proxies: string[]) {
  const way = await openEgress({
    origin: 'http://shop.example',
    allowPrivate: false,
    resolve: (host, _options, callback) =>
      callback(null, [{ address: host.startsWith('inside') ? '10.0.0.1' : '93.184.216.34', family: 4 }]),
    connect: connectThrough(proxies, clock),
  });
  stops.push(way.close);
  return way;
}

test('connections go through the proxies, to addresses that were judged here', async () => {
  for (const [start, scheme] of [
    [startHttpProxy, 'http'],
    [startSocksProxy, 'socks5'],
  ] as const) {
    const running = await proxy(start);
    const way = await wayThrough(`${scheme}://${running.address}`);
    expect(await ask(way.proxy, 'shop.example')).toBe('here');
    expect(await ask(way.proxy, 'scripts.example')).toBe('here');
    expect(await ask(way.proxy, 'inside.example')).toBe('');
    expect(await ask(way.proxy, '169.254.169.254')).toBe('');
    expect(running.targets).toEqual(['shop.example:80', '93.184.216.34:80']);
  }
});

test('one proxy is kept while it does well, and left when it fails', async () => {
  const failing = await proxy(startHttpProxy, { replies: 'end' });
  const well = await proxy(startHttpProxy);
  const way = await wayThrough(`http://${failing.address}`, `http://${well.address}`);
  const answers: string[] = [];
  for (let count = 0; count < 12; count += 1) answers.push(await ask(way.proxy, 'shop.example'));
  expect(answers.slice(-6)).toEqual(new Array(6).fill('here'));
  expect(failing.targets.length + well.targets.length).toBe(12);
  expect(failing.targets.length).toBeLessThan(6);
});

test('a proxy that fails is named, without its credentials', async () => {
  const failing = await proxy(startHttpProxy, { login: 'user:right' });
  const way = await wayThrough(`http://user:wrong@${failing.address}`);
  expect(await ask(way.proxy, 'shop.example')).toBe('');
  const fault = way.faultOf('http://shop.example/');
  expect(fault).toMatchObject({ code: 'proxy_failed', message: expect.stringContaining(failing.address) });
  expect(fault!.message).not.toContain('wrong');
});
