import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type RunningOrigins, startOrigins } from '../../sandbox/server.ts';
import { sites as origin } from '../../sandbox/sites/index.ts';
import { fakeProduct } from '../../sandbox/sites/products.ts';
import { type Config, loadConfig } from '../base/config.ts';
import { parseOrigins } from '../base/origins.ts';
import { parseSites } from '../markets/declared-sites/site-declaration.ts';
import { checkSite, contradictionLines, learnSite, proposeSite } from './site-check.ts';

let folder: string;
let origins: RunningOrigins;
let shop: string;
let config: Config;
let lines: string[];
const say = (line: string) => lines.push(line);

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gleaner-site-'));
  origins = await startOrigins({ origins: [origin] });
  shop = origins.address('sites', 'example');
  config = {
    ...loadConfig({ GLEANER_DATA_DIR: folder }),
    origins: parseOrigins('{"sites": {"allow_private": true, "requests_per_second": 100}}'),
  };
});
afterAll(async () => {
  await origins.stop();
  await rm(folder, { recursive: true });
});
beforeEach(() => {
  lines = [];
});

async function declare(text: string): Promise<string> {
  const file = join(folder, 'shop.json');
  await writeFile(file, text);
  return file;
}
const said = () => lines.join('\n');

describe('checkSite()', () => {
  test('prints the record, the source of each field, and the missing fields', async () => {
    const file = await declare(`{"shop": ${JSON.stringify(new URL(shop).host)}}`);
    expect(await checkSite(config, file, `${shop}/p/10001`, say)).toBe(true);
    expect(JSON.parse(/^\{[\s\S]*?^\}$/m.exec(said())![0])).toMatchObject({
      id: 'p-10001',
      site: 'shop',
      title: fakeProduct('10001').name,
      currency: 'EUR',
    });
    expect(said()).toMatch(/^ {2}price +(?:json-ld|microdata)$/m);
    expect(said()).toMatch(/^Missing \d+ of 26 listed fields: gtin, mpn, category, list_price/m);
  });

  test('reads the first page of a listing', async () => {
    const file = await declare(`{"shop": ${JSON.stringify(new URL(shop).host)}}`);
    const options = { page: 'search' as const };
    expect(await checkSite(config, file, `${shop}/c/mugs-30`, say, options)).toBe(true);
    expect(said()).toMatch(/^\d+ entries on the first page; the first one:$/m);
    expect(said()).not.toContain('Sources:');
  });

  test('says how to check a listing, and what to declare for one that it cannot read', async () => {
    const file = await declare(`{"shop": ${JSON.stringify(new URL(shop).host)}}`);
    expect(await checkSite(config, file, `${shop}/c/mugs-30`, say)).toBe(false);
    expect(said()).toContain('Check a listing with --listing.');
    const options = { page: 'search' as const };
    expect(await checkSite(config, file, `${shop}/p/10001`, say, options)).toBe(false);
    expect(said()).toContain('Declare "listing"');
  });

  test('reports a page without a product', async () => {
    const file = await declare(`{"shop": ${JSON.stringify(new URL(shop).host)}}`);
    expect(await checkSite(config, file, `${shop}/p/10800`, say)).toBe(false);
    expect(said()).toContain('FAULT page_not_found (not retried): the site returned 404');
  });

  test.each([
    ['{"shop": 1}', 'shop.json: line 1, column 10: shop'],
    ['{"shop": "other.example"}', 'declares no shop with the host 127.0.0.1:'],
  ])('refuses %s', async (text, message) => {
    const file = await declare(text);
    await expect(checkSite(config, file, `${shop}/p/10001`, say)).rejects.toThrow(message);
  });

  test('refuses a shop on a private address, unless the origins file allows it', async () => {
    const file = await declare(`{"shop": ${JSON.stringify(new URL(shop).host)}}`);
    const guarded = { ...config, origins: parseOrigins('{}') };
    expect(await checkSite(guarded, file, `${shop}/p/10001`, say)).toBe(false);
    expect(said()).toMatch(/^FAULT address_refused/m);
    expect(said()).toContain(
      'set {"sites": {"allow_private": true}} in the file of GLEANER_ORIGINS',
    );
  });

  test('names the command that proposes a declaration for a page without structured data', async () => {
    const plain = createServer((_, response) =>
      response
        .setHeader('content-type', 'text/html')
        .end(`<h1>Bowl</h1><p>${'Made of clay. '.repeat(99)}</p>`),
    );
    await once(plain.listen(0, '127.0.0.1'), 'listening');
    const host = `127.0.0.1:${(plain.address() as AddressInfo).port}`;
    try {
      const file = await declare(JSON.stringify({ shop: host }));
      expect(await checkSite(config, file, `http://${host}/p/1`, say)).toBe(false);
    } finally {
      plain.close();
    }
    expect(said()).toMatch(/^FAULT page_unreadable/m);
    expect(said()).toContain('`gleaner site learn`');
  });
});

test('contradictionLines() names each source of a page that disagrees once, and the selected value', () => {
  const candidate = {
    alternatives: [],
    text: null,
    offer: null,
    currency: null,
    isMarked: false,
    field: 'price',
  };
  const stated = {
    ...candidate,
    value: 10.5,
    rung: 'structured',
    source: 'json-ld',
    path: 'offers',
  } as const;
  const marked = {
    ...candidate,
    value: 12.5,
    rung: 'page',
    source: 'control',
    path: 'p.price',
  } as const;
  const price = { field: 'price', value: 12.5, candidates: [stated, marked, stated] };
  const soldOut = { ...stated, field: 'availability', value: 'OutOfStock' };
  const availability = { field: 'availability', value: null, candidates: [soldOut] };
  expect(contradictionLines([price, availability])).toEqual([
    'Contradictions (fields: 2):',
    '  price  10.5  json-ld offers',
    '  price  12.5  page control p.price',
    '  price  taken: 12.5',
    '  availability  "OutOfStock"  json-ld offers',
    '  availability  null, as the page marks none',
  ]);
  expect(contradictionLines([])).toEqual([]);
});

describe('learnSite()', () => {
  test('proposes a host alone for a shop with structured data', async () => {
    expect(await learnSite(config, [`${shop}/p/10001`, `${shop}/p/10002`], say)).toBe(true);
    const [declared] = parseSites(said());
    expect(declared).toMatchObject({ hosts: [new URL(shop).host], fields: {} });
  });

  test.each([
    [['https://a.example/1'], '2 to 5 product pages'],
    [['https://a.example/1', 'https://b.example/1'], 'no declared site has the host b.example'],
    [['https://a.example/1', 'mug'], "'mug' is not the address of a product page"],
    [['mug', 'https://a.example/1'], "'mug' is not the address of a product page"],
  ])('refuses %j', async (urls, message) => {
    await expect(learnSite(config, urls, say)).rejects.toThrow(message);
  });
});

test('proposeSite() finds fields in embedded state that differ between the pages', () => {
  const [site] = parseSites('{"kiln": "kiln.example"}');
  const page = (name: string, price: number) => ({
    status: 200,
    headers: {},
    url: `https://kiln.example/${name}`,
    at: 0,
    body: Buffer.from(
      `<script>window.__STATE__ = {"shop": {"name": "Kiln 9"}, "page": {"product": {"name": "${name}", "sku": "S-${name}",
       "offer": {"price": ${price}, "currency": "EUR", "inStock": true}, "related": [{"name": "Same", "price": 1}]}}};</script>`,
    ),
  });
  const { declaration, notes } = proposeSite([page('Mug', 9), page('Bowl', 12)], site!);
  expect(declaration).toEqual({
    hosts: ['kiln.example'],
    fields: {
      title: { json: 'page.product.name', script: '__STATE__' },
      price: { json: 'page.product.offer.price', script: '__STATE__' },
      currency: { json: 'page.product.offer.currency', script: '__STATE__' },
      availability: { json: 'page.product.offer.inStock', script: '__STATE__' },
      sku: { json: 'page.product.sku', script: '__STATE__' },
    },
  });
  expect(notes).toEqual([expect.stringContaining('images'), expect.stringContaining('brand')]);
});

test('proposeSite() takes a member only if it agrees with the values that were decided', () => {
  const [site] = parseSites('{"kiln": "kiln.example"}');
  const page = (name: string, price: number, offers: string) => ({
    status: 200,
    headers: {},
    url: `https://kiln.example/${name}`,
    at: 0,
    body: Buffer.from(
      `<title>${name}</title><h1>${name}</h1>${offers}
       <script type="application/ld+json">{"@type": "Product", "name": "${name}"}</script>
       <script>window.__STATE__ = {"price": ${price + 1}, "page": {"offer": {"price": ${price}}}};</script>`,
    ),
  });
  const shown = '<div><p class="price">€ 9,50</p><button>Add to cart</button></div>';
  const { declaration } = proposeSite(
    [page('Oat mug', 9.5, shown), page('Rye bowl', 12, '')],
    site!,
  );
  expect(declaration).toMatchObject({
    fields: { price: { json: 'page.offer.price', script: '__STATE__' } },
  });
});

test('proposeSite() notes fields for which the pages contradict themselves', () => {
  const [site] = parseSites('{"kiln": "kiln.example"}');
  const offer = (price: number) => `{"@type": "Offer", "price": ${price}, "priceCurrency": "EUR"}`;
  const page = (name: string) => ({
    status: 200,
    headers: {},
    url: `https://kiln.example/${name}`,
    at: 0,
    body: Buffer.from(
      `<h1>${name}</h1><p>€ 12,50</p><p>€ 14,00</p><button>Add to cart</button><script type="application/ld+json">
       {"@type": "Product", "name": "${name}", "offers": ${offer(10.5)}}</script>`,
    ),
  });
  const { notes } = proposeSite([page('Mug'), page('Bowl')], site!);
  expect(notes).toContainEqual(
    expect.stringMatching(/^price: sources of the pages contradict each other/),
  );
});
