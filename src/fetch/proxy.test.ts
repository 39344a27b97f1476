import http from 'node:http';
import http2 from 'node:http2';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { certificate, trustCertificate } from '../../test/support/servers/certificate.ts';
import { freePort } from '../../test/support/servers/ports.ts';
import {
  type RunningProxy,
  startHttpProxy,
  startSocksProxy,
} from '../../test/support/servers/proxy.ts';
import { createLog } from '../base/log.ts';
import { parseOrigins } from '../base/origins.ts';
import { createHttpFetcher, type Fetcher } from './http.ts';

trustCertificate();

const seen: http.IncomingHttpHeaders[] = [];
const respond: http.RequestListener = (request, response) => {
  seen.push(request.headers);
  response.end(`${request.method} ${request.url}`);
};
/** Sites with HTTP and HTTPS, which record the headers of requests. */
const servers = [
  http.createServer(respond),
  http2.createSecureServer({ ...certificate, allowHTTP1: true }, respond as never),
];
const sessions = new Set<http2.ServerHttp2Session>();
servers[1]!.on('session', (session) => sessions.add(session));

const stops: (() => Promise<unknown>)[] = [];
let plain: number;
let secure: number;
/** Address of all names. */
let resolvedAddress: string;
let resolved: string[];

beforeEach(async () => {
  await Promise.all(
    servers.map((server) => new Promise<void>((done) => server.listen(0, '127.0.0.1', done))),
  );
  [plain, secure] = servers.map((server) => (server.address() as AddressInfo).port) as [
    number,
    number,
  ];
  resolvedAddress = '93.184.216.34';
  resolved = [];
  seen.length = 0;
});

afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
  for (const session of sessions) session.destroy();
  sessions.clear();
  for (const server of servers) {
    if ('closeAllConnections' in server) server.closeAllConnections();
    await new Promise((done) => server.close(done));
  }
});

async function started(proxy: Promise<RunningProxy>): Promise<RunningProxy> {
  const running = await proxy;
  stops.push(running.stop);
  return running;
}

function fetcherThrough(proxy: string, settings: object = {}, connectMs = 5_000): Fetcher {
  const fetcher = createHttpFetcher({
    origins: parseOrigins(
      JSON.stringify({
        mkta: { sg: 'http://site.example', proxy, ...settings },
        mktf: { proxy, ...settings },
      }),
    ),
    clock: { now: () => 0, steady: () => 0, sleep: async () => {} },
    log: createLog('silent', 'test'),
    userAgent: 'Gleaner/test',
    limits: { connectMs },
    resolve: (host, _options, callback) => {
      resolved.push(host);
      callback(null, [
        { address: '2606:4700::1111', family: 6 },
        { address: resolvedAddress, family: 4 },
      ]);
    },
  });
  stops.push(fetcher.close);
  return fetcher;
}

const schemes = [
  ['http', startHttpProxy],
  ['socks5', startSocksProxy],
] as const;

describe.each(schemes)('through %s', (scheme, startProxy) => {
  test('a market’s pages are fetched, and the proxy resolves its origin', async () => {
    const proxy = await started(startProxy({ to: plain }));
    const page = fetcherThrough(`${scheme}://${proxy.address}`).for('mkta', 'sg');
    expect((await page({ path: '/a?b=1' })).body.toString()).toBe('GET /a?b=1');
    expect((await page({ path: '/a', method: 'POST', body: '{}' })).body.toString()).toBe(
      'POST /a',
    );
    for (let turn = 0; turn < 10; turn += 1) await page({ path: '/' });
    expect(proxy.targets.length).toBeLessThanOrEqual(2);
    expect(proxy.targets[0]).toBe('site.example:80');
    expect(seen[0]).toEqual({
      host: 'site.example',
      connection: 'keep-alive',
      'user-agent': 'Gleaner/test',
      'accept-encoding': 'gzip, deflate, br, zstd',
    });
  });

  test('the credentials are only sent to the proxy', async () => {
    const proxy = await started(startProxy({ to: plain, login: 'me@here:s:cret' }));
    const page = fetcherThrough(`${scheme}://me%40here:s%3Acret@${proxy.address}`).for(
      'mkta',
      'sg',
    );
    await page({ path: '/' });
    expect(proxy.logins).toEqual(['me@here:s:cret']);
    expect(JSON.stringify(seen)).not.toMatch(/proxy|authorization|cret/i);
  });

  test('a fault for wrong credentials does not contain them', async () => {
    const proxy = await started(startProxy({ to: plain, login: 'me:right' }));
    for (const login of ['me:wrong@', '']) {
      const page = fetcherThrough(`${scheme}://${login}${proxy.address}`).for('mkta', 'sg');
      await expect(page({ path: '/' })).rejects.toMatchObject({
        code: 'proxy_failed',
        message: expect.stringMatching(
          new RegExp(`^the proxy ${scheme}://${proxy.address} failed: `),
        ),
      });
      const fault = await page({ path: '/' }).catch((error) => error);
      expect(`${fault.stack} ${fault.cause?.stack}`).not.toContain('wrong');
    }
    expect(seen).toEqual([]);
  });

  test('a TLS connection is end to end, with the name and certificate of the site', async () => {
    const proxy = await started(startProxy({ to: secure }));
    const fetcher = fetcherThrough(`${scheme}://${proxy.address}`);
    const page = fetcher.for('mktf', '');
    expect((await page({ origin: 'https://shop.example', path: '/safe' })).body.toString()).toBe(
      'GET /safe',
    );
    expect(proxy.targets).toEqual([`${resolvedAddress}:443`]);
    // The connection uses HTTP/2, which the site offers.
    expect(seen[0]).toMatchObject({ ':authority': 'shop.example', ':path': '/safe' });
    expect(sessions.size).toBe(1);
    await expect(page({ origin: 'https://other.example', path: '/' })).rejects.toMatchObject({
      code: 'network',
      message: expect.stringContaining('TLS'),
    });
  });

  test('the name of a store is resolved and checked locally, and the proxy receives the address', async () => {
    const proxy = await started(startProxy({ to: plain }));
    const page = fetcherThrough(`${scheme}://${proxy.address}`).for('mktf', '');
    await page({ origin: 'http://shop.example:8080', path: '/' });
    expect(resolved).toEqual(['shop.example']);
    expect(proxy.targets).toEqual([`${resolvedAddress}:8080`]);
    expect(seen[0]!.host).toBe('shop.example:8080');
  });

  test.each(['127.0.0.1', '10.0.0.7', '169.254.169.254', '::1', '::ffff:10.0.0.1'])(
    'a store whose name resolves to %s is refused without the proxy',
    async (address) => {
      resolvedAddress = address;
      const proxy = await started(startProxy({ to: plain }));
      const page = fetcherThrough(`${scheme}://${proxy.address}`).for('mktf', '');
      for (const host of ['shop.example', address.includes(':') ? `[${address}]` : address]) {
        await expect(page({ origin: `http://${host}`, path: '/' })).rejects.toMatchObject({
          code: 'address_refused',
        });
      }
      expect(proxy.connections()).toBe(0);
    },
  );

  test('the proxy resolves the names of stores if allow_private is set', async () => {
    const proxy = await started(startProxy({ to: plain }));
    const fetcher = fetcherThrough(`${scheme}://${proxy.address}`, { allow_private: true });
    await fetcher.for('mktf', '')({ origin: 'http://shop.internal', path: '/' });
    await fetcher.for('mktf', '')({ origin: 'http://[fd00::1]:8080', path: '/' });
    expect(resolved).toEqual([]);
    expect(proxy.targets[0]).toBe('shop.internal:80');
    expect(proxy.targets[1]).toMatch(/^(?:\[fd00::1\]|fd0+1):8080$/);
  });

  test.each([
    ['does not reply', 'nothing' as const, 'timed out'],
    ['closes the connection', 'end' as const, /socket hang up|socket closed/i],
    [
      'uses another protocol',
      Buffer.from('220 mail.example ESMTP\r\n\r\n'),
      /Expected HTTP|socks version/,
    ],
    ['sends an endless reply', Buffer.alloc(100_000, 5), /Expected HTTP|authentication/],
  ])('a proxy that %s causes proxy_failed', async (_name, replies, words) => {
    const proxy = await started(startProxy({ to: plain, replies }));
    const waitMs = replies === 'nothing' ? 100 : 5_000;
    const page = fetcherThrough(`${scheme}://${proxy.address}`, {}, waitMs).for('mkta', 'sg');
    await expect(page({ path: '/' })).rejects.toMatchObject({
      code: 'proxy_failed',
      message: expect.stringMatching(words),
    });
  });

  test('an unreachable proxy causes proxy_failed', async () => {
    const page = fetcherThrough(`${scheme}://127.0.0.1:${await freePort()}`).for('mkta', 'sg');
    await expect(page({ path: '/' })).rejects.toMatchObject({
      code: 'proxy_failed',
      message: expect.stringContaining('ECONNREFUSED'),
    });
  });
});

test.each([
  ['an unreachable host', 4, 'HostUnreachable'],
  ['its rules', 2, 'NotAllowed'],
])('a fault contains a SOCKS5 proxy’s reason: %s', async (_name, code, words) => {
  const proxy = await started(
    startSocksProxy({ to: plain, replies: Buffer.from([5, 0, 5, code, 0, 1, 0, 0, 0, 0, 0, 0]) }),
  );
  const page = fetcherThrough(`socks5://${proxy.address}`).for('mkta', 'sg');
  await expect(page({ path: '/' })).rejects.toMatchObject({
    message: `the proxy socks5://${proxy.address} failed: Socks5 proxy rejected connection - ${words}`,
  });
});
