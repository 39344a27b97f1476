import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { createLog } from '../../src/base/log.ts';
import { parseOrigins } from '../../src/base/origins.ts';
import type { Fetcher } from '../../src/fetch/http.ts';
import { createOriginScheduler, type OriginScheduler } from '../../src/fetch/origin-scheduler.ts';
import { policyOfMarket } from '../../src/markets/lookup.ts';
import { openSqliteStore } from '../../src/store/sqlite/open.ts';
import type { Store } from '../../src/store/store.ts';
import { browserFetcher, skipped } from './chromium.ts';

let seen: string[];

/** A site with pages that navigate to other pages, some of them disallowed by robots.txt. */
const server = createServer((request, response) => {
  seen.push(request.url!);
  const to = (location: string) => response.writeHead(302, { location }).end();
  const page = (head: string) =>
    response
      .writeHead(200, { 'content-type': 'text/html' })
      .end(`<!doctype html><head>${head}</head><body>Welcome</body>`);
  switch (request.url) {
    case '/robots.txt':
      return void response.end('User-agent: gleaner\nDisallow: /private\n');
    case '/redirects':
      return void to('/private/1?a=b');
    case '/redirects-later':
      return void to('/redirects');
    case '/script-leads':
      return void page(`<script>location.href = '/private/2'</script>`);
    case '/refreshes':
      return void page('<meta http-equiv="refresh" content="0; url=/private/3">');
    case '/redirects-to-allowed':
      return void to('/requests');
    case '/requests':
      return void page(`<script>fetch('/data')</script>`);
    default:
      return void response.end(request.url);
  }
});

describe.skipIf(skipped)(`with robots.txt respected, a page in the browser${skipped}`, () => {
  let fetcher: Fetcher;
  let store: Store;
  let scheduler: OriginScheduler;

  beforeAll(async () => {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const site = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const settings = {
      mktb: { id: site, fetch: 'browser', robots: true, requests_per_second: 1_000 },
    };
    fetcher = browserFetcher(settings, { quietMs: 100 });
    store = openSqliteStore({ path: ':memory:' });
    scheduler = createOriginScheduler({
      policyOf: policyOfMarket,
      fetcher,
      origins: parseOrigins(JSON.stringify(settings)),
      store,
      clock: systemClock,
      log: createLog('silent', 'test'),
      userAgent: 'Gleaner/test',
    });
  });

  beforeEach(() => {
    seen = [];
  });

  afterAll(async () => {
    await scheduler.close();
    await Promise.all([fetcher.close(), store.close()]);
    server.closeAllConnections();
    server.close();
  });

  const open = (path: string) =>
    scheduler.openSession('mktb', 'id').fetch({ path: '/data', page: { path, take: 'response' } });

  test.each([
    ['is redirected', '/redirects', '/private/1?a=b'],
    ['is redirected later', '/redirects-later', '/private/1?a=b'],
    ['is navigated by its script', '/script-leads', '/private/2'],
    ['is refreshed by its head', '/refreshes', '/private/3'],
  ])(
    'is rejected if it %s to a disallowed page, without a request for that page',
    async (_, path, forbidden) => {
      await expect(open(path)).rejects.toMatchObject({
        code: 'robots_disallowed',
        message: expect.stringContaining(`Gleaner to read ${forbidden}`),
      });
      expect(seen).toContain(path);
      expect(seen.filter((url) => url.startsWith('/private'))).toEqual([]);
    },
  );

  test('follows a navigation to an allowed page', async () => {
    expect((await open('/redirects-to-allowed')).body.toString()).toBe('/data');
  });
});
