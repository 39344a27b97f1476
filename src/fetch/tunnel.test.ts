import http from 'node:http';
import http2 from 'node:http2';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { certificate, trustCertificate } from '../../test/support/certificate.ts';
import { type RunningProxy, startHttpProxy, startSocksProxy } from '../../test/support/proxy.ts';
import { createLog } from '../base/log.ts';
import { parseOrigins } from '../base/origins.ts';
import { createHttpFetcher, type Fetcher } from './http.ts';

trustCertificate();

const seen: http.IncomingHttpHeaders[] = [];
const answer: http.RequestListener = (request, response) => {
  seen.push(request.headers);
  response.end(`${request.method} ${request.url}`);
};
/** Says under which name it was spoken to. */
const servers = [
  http.createServer(answer),
  http2.createSecureServer({ ...certificate, allowHTTP1: true }, answer as never),
];
const sessions = new Set<http2.ServerHttp2Session>();
servers[1]!.on('session', (session) => sessions.add(session));

const stops: (() => Promise<unknown>)[] = [];
let plain: number;
let secure: number;
/** Where every name leads. */
let leadsTo: string;
let resolved: string[];

beforeEach(async () => {
  await Promise.all(
    servers.map((server) => new Promise<void>((done) => server.listen(0, '127.0.0.1', done))),
  );
  [plain, secure] = servers.map((server) => (server.address() as AddressInfo).port) as [number, number];
  leadsTo = '93.184.216.34';
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

function fetcherThrough(proxies: string[], settings: object = {}, connectMs = 5_000): Fetcher {
  const fetcher = createHttpFetcher({
    origins: parseOrigins(
      JSON.stringify({
        mkta: { sg: 'http://site.example', proxies, ...settings },
        mktf: { proxies, ...settings },
      }),
    ),
    clock: { now: () => 0, sleep: async () => {} },
    log: createLog('silent', 'test'),
    userAgent: 'Gleaner/test',
    limits: { connectMs },
    resolve: (host, _options, callback) => {
      resolved.push(host);
      callback(null, [
        { address: '2606:4700::1111', family: 6 },
        { address: leadsTo, family: 4 },
      ]);
    },
  });
  stops.push(fetcher.close);
  return fetcher;
}

const sorts = [
  ['http', startHttpProxy],
  ['socks5', startSocksProxy],
] as const;

describe.each(sorts)('through %s', (scheme, startProxy) => {
  test('a market’s pages come, by the name of its origin', async () => {
    const proxy = await started(startProxy({ to: plain }));
    const page = fetcherThrough([`${scheme}://${proxy.address}`]).for('mkta', 'sg');
    expect((await page({ path: '/a?b=1' })).body.toString()).toBe('GET /a?b=1');
    expect((await page({ path: '/a', method: 'POST', body: '{}' })).body.toString()).toBe('POST /a');
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

  test('the login is for the proxy alone', async () => {
    const proxy = await started(startProxy({ to: plain, login: 'me@here:s:cret' }));
    const page = fetcherThrough([`${scheme}://me%40here:s%3Acret@${proxy.address}`]).for('mkta', 'sg');
    await page({ path: '/' });
    expect(proxy.logins).toEqual(['me@here:s:cret']);
    expect(JSON.stringify(seen)).not.toMatch(/proxy|authorization|cret/i);
  });

  test('a wrong login is the proxy’s refusal, and is not shown', async () => {
    const proxy = await started(startProxy({ to: plain, login: 'me:right' }));
    for (const login of ['me:wrong@', '']) {
      const page = fetcherThrough([`${scheme}://${login}${proxy.address}`]).for('mkta', 'sg');
      await expect(page({ path: '/' })).rejects.toMatchObject({
        code: 'proxy_failed',
        message: expect.stringMatching(new RegExp(`^the proxy ${scheme}://${proxy.address}: it `)),
      });
      const fault = await page({ path: '/' }).catch((error) => error);
      expect(`${fault.stack} ${fault.cause?.stack}`).not.toContain('wrong');
    }
    expect(seen).toEqual([]);
  });

  test('a secure site is spoken to by its own name and certificate, end to end', async () => {
    const proxy = await started(startProxy({ to: secure }));
    const fetcher = fetcherThrough([`${scheme}://${proxy.address}`]);
    const page = fetcher.for('mktf', '');
    expect((await page({ origin: 'https://shop.example', path: '/safe' })).body.toString()).toBe('GET /safe');
    expect(proxy.targets).toEqual([`${leadsTo}:443`]);
    // By HTTP/2, since the site offers it.
    expect(seen[0]).toMatchObject({ ':authority': 'shop.example', ':path': '/safe' });
    expect(sessions.size).toBe(1);
    await expect(page({ origin: 'https://other.example', path: '/' })).rejects.toMatchObject({
      code: 'network',
      message: expect.stringContaining('TLS'),
    });
  });

  test('a store’s name is resolved and judged here, and the proxy told the address', async () => {
    const proxy = await started(startProxy({ to: plain }));
    const page = fetcherThrough([`${scheme}://${proxy.address}`]).for('mktf', '');
    await page({ origin: 'http://shop.example:8080', path: '/' });
    expect(resolved).toEqual(['shop.example']);
    expect(proxy.targets).toEqual([`${leadsTo}:8080`]);
    expect(seen[0]!.host).toBe('shop.example:8080');
  });

  test.each(['127.0.0.1', '10.0.0.7', '169.254.169.254', '::1', '::ffff:10.0.0.1'])(
    'a store’s name that leads to %s never reaches the proxy',
    async (address) => {
      leadsTo = address;
      const proxy = await started(startProxy({ to: plain }));
      const page = fetcherThrough([`${scheme}://${proxy.address}`]).for('mktf', '');
      for (const host of ['shop.example', address.includes(':') ? `[${address}]` : address]) {
        await expect(page({ origin: `http://${host}`, path: '/' })).rejects.toMatchObject({
          code: 'address_refused',
        });
      }
      expect(proxy.connections()).toBe(0);
    },
  );

  test('where private stores are allowed the proxy finds them', async () => {
    const proxy = await started(startProxy({ to: plain }));
    const fetcher = fetcherThrough([`${scheme}://${proxy.address}`], { allow_private: true });
    await fetcher.for('mktf', '')({ origin: 'http://shop.internal', path: '/' });
    await fetcher.for('mktf', '')({ origin: 'http://[fd00::1]:8080', path: '/' });
    expect(resolved).toEqual([]);
    expect(proxy.targets[0]).toBe('shop.internal:80');
    expect(proxy.targets[1]).toMatch(/^(?:\[fd00::1\]|fd0+1):8080$/);
  });

  test.each([
    ['replies nothing', 'nothing' as const, 'did not answer in time'],
    ['hangs up', 'end' as const, 'ended the connection'],
    ['speaks something else', Buffer.from('220 mail.example ESMTP\r\n\r\n'), 'does not speak'],
    ['speaks without end', Buffer.alloc(100_000, 5), /no end|login|does not speak/],
  ])('a proxy that %s is said to have failed', async (_name, replies, words) => {
    const proxy = await started(startProxy({ to: plain, replies }));
    const waitMs = replies === 'nothing' ? 100 : 5_000;
    const page = fetcherThrough([`${scheme}://${proxy.address}`], {}, waitMs).for('mkta', 'sg');
    await expect(page({ path: '/' })).rejects.toMatchObject({
      code: 'proxy_failed',
      message: expect.stringMatching(words),
    });
  });

  test('one that is not there is left out for the other', async () => {
    const gone = await started(startProxy({ to: plain }));
    await gone.stop();
    const proxy = await started(startProxy({ to: plain }));
    const fetcher = fetcherThrough([`${scheme}://${gone.address}`, `${scheme}://${proxy.address}`]);
    const ask = () => fetcher.for('mkta', 'sg')({ path: '/' });
    const faults: string[] = [];
    for (let turn = 0; turn < 40; turn += 1) await ask().catch(({ code }) => faults.push(code));
    expect(faults.length).toBeLessThanOrEqual(2);
    expect(new Set(faults).size).toBeLessThanOrEqual(1);
    expect(seen.length).toBe(40 - faults.length);
  });
});

test('a visit stays with its proxy', async () => {
  const proxies = await Promise.all([1, 2, 3].map(() => started(startHttpProxy({ to: plain }))));
  const fetcher = fetcherThrough(proxies.map(({ address }) => `http://${address}`));
  for (let visit = 0; visit < 6; visit += 1) {
    const page = fetcher.for('mkta', 'sg');
    const before = proxies.map(({ connections }) => connections());
    for (let request = 0; request < 5; request += 1) await page({ path: '/' });
    const used = proxies.filter(({ connections }, index) => connections() > before[index]!);
    expect(used.length).toBeLessThanOrEqual(1);
  }
  expect(proxies.filter(({ connections }) => connections() > 0).length).toBeGreaterThan(0);
});

test.each([
  ['host unreachable', 4, 'it cannot reach the host'],
  ['its rules', 2, 'its rules do not allow it'],
])('a SOCKS5 proxy’s refusal is told: %s', async (_name, code, words) => {
  const proxy = await started(
    startSocksProxy({ to: plain, replies: Buffer.from([5, 0, 5, code, 0, 1, 0, 0, 0, 0, 0, 0]) }),
  );
  const page = fetcherThrough([`socks5://${proxy.address}`]).for('mkta', 'sg');
  await expect(page({ path: '/' })).rejects.toMatchObject({
    message: `the proxy socks5://${proxy.address}: ${words}`,
  });
});
