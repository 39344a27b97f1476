import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Fetching, openFetching } from '../../src/app/open-fetching.ts';
import { systemClock } from '../../src/base/clock.ts';
import { type Config, loadConfig } from '../../src/base/config.ts';
import type { JsonObject } from '../../src/base/json.ts';
import { createLog } from '../../src/base/log.ts';
import { parseOrigins } from '../../src/base/origins.ts';
import { declaredSites } from '../../src/markets/declared-sites/declared-sites.ts';
import { product } from '../../src/markets/sites/product.ts';
import { search } from '../../src/markets/sites/search.ts';
import { openSqliteStore } from '../../src/store/sqlite/open.ts';
import type { Store } from '../../src/store/store.ts';
import { checkSite } from '../../src/tools/site-check.ts';
import { chromium, skipped } from './chromium.ts';

let seen: string[];
let reached: number;

/** A server in the internal network, which no page may reach. */
const inside = createServer((_request, response) => {
  reached += 1;
  response.writeHead(200, { 'access-control-allow-origin': '*' }).end('secret');
});
const portOf = (each: Server) => (each.address() as AddressInfo).port;

/**
 * Script of a product page: requests the data, then shows them as structured data and in the page.
 */
const showProduct = `fetch('/api' + location.pathname).then((response) => response.json()).then((found) => {
  const script = document.createElement('script');
  script.type = 'application/ld+json';
  script.textContent = JSON.stringify({ '@type': 'Product', name: found.name,
    offers: { price: found.price, priceCurrency: 'EUR', availability: 'InStock' } });
  document.head.append(script);
  document.body.innerHTML = '<h1>' + found.name + '</h1><p class="delivery">3 days</p>';
});`;

/**
 * Page of a product whose script adds elements after some time, and whose structured data has no
 * price.
 */
const lateProduct = (
  element: string,
  afterMs: number,
) => `<!doctype html><title>Mug</title><h1>Mug</h1>
  <script type="application/ld+json">{"@type": "Product", "name": "Mug", "sku": "7"}</script>
  <script>setTimeout(() => document.body.insertAdjacentHTML('beforeend', '${element}'), ${afterMs});</script>`;
const latePrice = `<script type="application/ld+json">{"@type": "Product", "name": "Mug",
  "offers": {"price": 12.5, "priceCurrency": "EUR"}}<\\/script>`.replaceAll('\n', ' ');

/** Script of a listing: shows two products of a page, and the link to the next page. */
const showListing = `const page = Number(new URLSearchParams(location.search).get('page') ?? 1);
  document.body.innerHTML = [2 * page - 1, 2 * page].map((at) =>
    '<li class="card"><a href="/p/mug-' + at + '"><h3>Mug ' + at + '</h3></a><b>€ ' + at + ',50</b></li>').join('')
    + (page < 3 ? '<a rel="next" href="?page=' + (page + 1) + '">Next</a>' : '');`;

/** A shop whose pages show their data only after their scripts have run. */
const server = createServer((request, response) => {
  seen.push(request.url!);
  const { pathname } = new URL(request.url!, 'http://here');
  const html = (text: string) =>
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(text);
  const page = (script: string) =>
    html(`<!doctype html><title>Kiln</title><body><p>Loading…</p><script>${script}</script>`);
  const to = (location: string) => response.writeHead(302, { location }).end();
  if (pathname === '/robots.txt') response.end('User-agent: *\nDisallow: /private\n');
  else if (pathname.startsWith('/api/p/'))
    response.end(JSON.stringify({ name: pathname.slice('/api/p/'.length), price: '12.50' }));
  else if (pathname === '/p/gone')
    response.writeHead(404, { 'content-type': 'text/html' }).end('Not here');
  else if (/^\/(?:p\/moved|moved\/mug)$/.test(pathname)) to('/p/mug');
  else if (pathname === '/p/www') to('http://www.kiln.example/p/mug');
  else if (pathname === '/p/leaves') to(`http://127.0.0.1:${portOf(inside)}/p/mug`);
  else if (pathname === '/p/script-leaves')
    page(`location.href = 'http://127.0.0.1:${portOf(inside)}/'; ${showProduct}`);
  else if (pathname === '/p/private') page(`location.href = '/private/mug'`);
  else if (pathname === '/p/reaches')
    page(`const places = ['http://127.0.0.1:${portOf(inside)}/', 'http://localhost:${portOf(inside)}/', 'http://169.254.169.254/'];
      Promise.allSettled(places.map((place) => fetch(place, { mode: 'no-cors' }))).then(() => { ${showProduct} });`);
  else if (pathname === '/p/late') html(lateProduct(latePrice, 1_500));
  else if (pathname === '/p/without-price') html(lateProduct('<p>Nice</p>', 0));
  else if (pathname === '/p/late-delivery')
    html(lateProduct('<p class="delivery">3 days</p>', 3_500));
  else if (pathname.startsWith('/p/')) page(showProduct);
  else if (pathname === '/c/mugs') page(showListing);
  else response.writeHead(200, { 'content-type': 'text/html' }).end('other');
});

describe.skipIf(skipped)(`declared shops in a browser${skipped}`, () => {
  let folder: string;
  let config: Config;
  let store: Store;
  let fetching: Fetching;
  let file: string;

  beforeAll(async () => {
    for (const each of [server, inside]) await once(each.listen(0, '127.0.0.1'), 'listening');
    folder = await mkdtemp(join(tmpdir(), 'gleaner-sites-'));
    file = join(folder, 'sites.json');
    const listing = { items: '.card', fields: { title: 'h3', price: 'b' } };
    const fields = { delivery: '.delivery' };
    await writeFile(
      file,
      JSON.stringify({
        kiln: { hosts: ['kiln.example'], fetch: 'browser', fields, listing },
        oven: { hosts: ['oven.example'], fetch: 'browser', wait_for: '.delivery' },
      }),
    );
    const address = `http://127.0.0.1:${portOf(server)}`;
    const sites = { kiln: address, oven: address, requests_per_second: 1_000 };
    config = {
      ...loadConfig({ GLEANER_DATA_DIR: folder, GLEANER_SITES: file }),
      origins: parseOrigins(JSON.stringify({ sites })),
      browser: 'missing' in chromium ? null : chromium.path,
    };
    declaredSites.use(config.siteFiles);
    store = openSqliteStore({ path: ':memory:' });
    fetching = await openFetching({
      config,
      store,
      clock: systemClock,
      log: createLog('silent', 'test'),
    });
  });
  beforeEach(() => {
    [seen, reached] = [[], 0];
  });
  afterAll(async () => {
    await fetching?.close();
    await store?.close();
    for (const each of [server, inside]) {
      each.closeAllConnections();
      each.close();
    }
    await rm(folder, { recursive: true });
  });

  const fetchOf = (site = 'kiln') => fetching.pages.openSession('sites', site).fetch;
  const read = (path: string, site = 'kiln') =>
    product.read({ url: `http://${site}.example${path}` }, { region: site, fetch: fetchOf(site) });

  test.each(['/p/mug', '/moved/mug', '/p/reaches'])(
    'show the product of %s after its scripts',
    async (path) => {
      const name = path === '/p/reaches' ? 'reaches' : 'mug';
      expect(await read(path)).toMatchObject({
        site: 'kiln',
        url: `http://kiln.example/p/${name}`,
        title: name,
        price: 12.5,
        currency: 'EUR',
        available: true,
        extra: { delivery: '3 days' },
      });
      expect(seen).toContain(`/api/p/${name}`);
      expect(reached).toBe(0);
    },
  );

  test('show a price that a script adds later', async () => {
    const record = await read('/p/late');
    expect(record).toMatchObject({ title: 'Mug', price: 12.5, currency: 'EUR' });
    expect(record).not.toHaveProperty('pending_fields');
  });

  test('are pending if no script adds a price', async () => {
    expect(await read('/p/without-price')).toMatchObject({
      price: null,
      pending_fields: ['price'],
    });
    const address = 'http://kiln.example/p/without-price';
    const lines: string[] = [];
    expect(await checkSite(config, file, address, (line) => lines.push(line))).toBe(true);
    expect(lines).toContainEqual(expect.stringMatching(/^Pending: .*"wait_for"/));
  });

  test('are read once they show what the declaration waits for', async () => {
    expect(await read('/p/late-delivery', 'oven')).toMatchObject({ title: 'Mug', price: null });
    await expect(read('/p/without-price', 'oven')).rejects.toMatchObject({
      code: 'page_unreadable',
      message: expect.stringContaining('the page does not show .delivery'),
    });
  });

  test('show every page of a listing', async () => {
    const entries: JsonObject[] = [];
    const pages = search.read(
      { url: 'http://kiln.example/c/mugs' },
      { region: 'kiln', fetch: fetchOf() },
    );
    let next = await pages.next();
    for (; !next.done; next = await pages.next()) entries.push(...next.value.entries);
    expect(next.value).toEqual({
      site: 'kiln',
      total_products: 6,
      pages_fetched: 3,
      has_more: false,
    });
    expect(entries[5]).toMatchObject({
      title: 'Mug 6',
      price: 6.5,
      url: 'http://kiln.example/p/mug-6',
    });
  });

  test.each([
    ['/p/gone', 'page_not_found'],
    ['/p/moved', 'page_mismatch'],
    ['/p/leaves', 'page_failed'],
    ['/p/private', 'robots_disallowed'],
    ['/private/mug', 'robots_disallowed'],
  ])('fail at %s with %s', async (path, code) => {
    await expect(read(path)).rejects.toMatchObject({ code });
    expect(seen.filter((url) => url.startsWith('/private'))).toEqual([]);
    expect(reached).toBe(0);
  });

  test('do not leave their origin by a script', async () => {
    await read('/p/script-leaves').catch(() => {});
    expect(seen).toContain('/p/script-leaves');
    expect(reached).toBe(0);
  });

  test('are refused on private addresses, unless the origins file allows them', async () => {
    const guarded = { ...config, origins: parseOrigins('{}') };
    const local = join(folder, 'local.json');
    await writeFile(
      local,
      JSON.stringify({ kiln: { hosts: [`127.0.0.1:${portOf(server)}`], fetch: 'browser' } }),
    );
    const lines: string[] = [];
    const say = (line: string) => lines.push(line);
    const address = `http://127.0.0.1:${portOf(server)}/p/mug`;
    expect(await checkSite(guarded, local, address, say)).toBe(false);
    expect(lines.join('\n')).toMatch(/^FAULT address_refused/m);
    expect(seen).toEqual([]);
    const open = { ...config, origins: parseOrigins('{"sites": {"allow_private": true}}') };
    expect(await checkSite(open, local, address, say)).toBe(true);
    expect(lines.join('\n')).toMatch(/^ {2}title +json-ld$/m);
    // A redirect to a host that is not declared is not followed, wherever it leads.
    expect(await checkSite(open, local, address.replace('mug', 'leaves'), say)).toBe(false);
    expect(lines.at(-1)).toMatch(/^FAULT page_failed .* points to http:\/\/127/);
    expect(reached).toBe(0);
    declaredSites.use(config.siteFiles);
  });
});
