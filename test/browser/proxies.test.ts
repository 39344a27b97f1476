import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startHttpProxy, startSocksProxy } from '../support/servers/proxy.ts';
import { browserFetcher, skipped } from './chromium.ts';

const seen: string[] = [];
const server = createServer((request, response) => {
  seen.push(request.rawHeaders.join('\n'));
  response
    .writeHead(200, { 'content-type': 'text/html' })
    .end(`<title>${request.headers.host}</title>`);
});
let port: number;

describe.skipIf(skipped)(`a browser behind a proxy${skipped}`, () => {
  beforeAll(async () => {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    port = (server.address() as AddressInfo).port;
  });

  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });

  test.each([
    ['http', startHttpProxy],
    ['socks5', startSocksProxy],
  ] as const)('opens pages through an %s proxy with a login', async (scheme, startProxy) => {
    const proxy = await startProxy({ to: port, login: 'me:secret' });
    const url = `${scheme}://me:secret@${proxy.address}`;
    const fetcher = browserFetcher(
      { mktb: { id: 'http://shop.example', fetch: 'browser', proxy: url } },
      { quietMs: 100 },
    );
    const { body } = await fetcher.for('mktb', 'id')({ path: '/' });
    expect(body.toString()).toContain('<title>shop.example</title>');
    expect(new Set(proxy.targets)).toEqual(new Set(['shop.example:80']));
    expect(new Set(proxy.logins)).toEqual(new Set(['me:secret']));
    expect(seen.join('\n')).not.toMatch(/secret|proxy/i);
    await fetcher.close();
    await proxy.stop();
  });

  test('reports a failing proxy', async () => {
    const proxy = await startHttpProxy({ to: port, replies: 'end' });
    const fetcher = browserFetcher({
      mktb: {
        id: 'http://shop.example',
        fetch: 'browser',
        proxy: `http://me:secret@${proxy.address}`,
      },
    });
    await expect(fetcher.for('mktb', 'id')({ path: '/' })).rejects.toMatchObject({
      code: 'proxy_failed',
      message: expect.not.stringContaining('secret'),
    });
    await fetcher.close();
    await proxy.stop();
  });
});
