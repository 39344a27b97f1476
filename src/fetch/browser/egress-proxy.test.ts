import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import {
  type ProxyBehavior,
  type RunningProxy,
  startHttpProxy,
  startSocksProxy,
} from '../../../test/support/servers/proxy.ts';
import { openEgress } from './egress.ts';

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

/**
 * Requests a host through an egress, and returns the response body, or '' if the connection is
 * refused.
 */
async function fetchThrough(egress: string, host: string): Promise<string> {
  const socket = connect(Number(new URL(egress).port), '127.0.0.1');
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

async function openEgressThrough(url: string) {
  const egress = await openEgress({
    origin: 'http://shop.example',
    allowPrivate: false,
    resolve: (host, _options, callback) =>
      callback(null, [
        { address: host.startsWith('inside') ? '10.0.0.1' : '93.184.216.34', family: 4 },
      ]),
    proxy: url,
  });
  stops.push(egress.close);
  return egress;
}

test('connections use the proxy, with locally checked addresses', async () => {
  for (const [start, scheme] of [
    [startHttpProxy, 'http'],
    [startSocksProxy, 'socks5'],
  ] as const) {
    const running = await proxy(start);
    const egress = await openEgressThrough(`${scheme}://${running.address}`);
    expect(await fetchThrough(egress.proxy, 'shop.example')).toBe('here');
    expect(await fetchThrough(egress.proxy, 'scripts.example')).toBe('here');
    expect(await fetchThrough(egress.proxy, 'inside.example')).toBe('');
    expect(await fetchThrough(egress.proxy, '169.254.169.254')).toBe('');
    expect(running.targets).toEqual(['shop.example:80', '93.184.216.34:80']);
  }
});

test('the fault of a failing proxy does not contain its credentials', async () => {
  const failing = await proxy(startHttpProxy, { login: 'user:right' });
  const egress = await openEgressThrough(`http://user:wrong@${failing.address}`);
  expect(await fetchThrough(egress.proxy, 'shop.example')).toBe('');
  const fault = egress.faultOf('http://shop.example/');
  expect(fault).toMatchObject({
    code: 'proxy_failed',
    message: expect.stringContaining(failing.address),
  });
  expect(fault!.message).not.toContain('wrong');
});
