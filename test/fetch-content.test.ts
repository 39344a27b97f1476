import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { systemClock } from '../src/base/clock.ts';
import { newId } from '../src/base/id.ts';
import type { JsonObject } from '../src/base/json.ts';
import { createLog } from '../src/base/log.ts';
import type { Blobs } from '../src/blobs/blobs.ts';
import { openFiles } from '../src/blobs/files/open.ts';
import { type FaultCode, faultCodes } from '../src/contract/fault.ts';
import { services } from '../src/contract/services.ts';
import { createDriftWatch } from '../src/drift/watch.ts';
import type { PageAnswer, PageRequest } from '../src/fetch/page.ts';
import type { JobContext } from '../src/jobs/context.ts';
import { resolveOffers } from '../src/jobs/offers.ts';
import { readUnit } from '../src/jobs/read-unit.ts';
import { kinds } from '../src/kinds/list.ts';
import { listedFields } from '../src/markets/defaults.ts';
import { markets } from '../src/markets/list.ts';
import { aBatch, aJob } from '../src/store/contract/samples.ts';
import { openSqliteStore } from '../src/store/sqlite/open.ts';

/** What a site answers instead of the page asked for. */
interface Bad {
  status?: number;
  headers?: Record<string, string>;
  body?: string;
  /** Where the answer came from in the end. */
  url?: string;
}

const html = (title: string, body: string): Bad => ({
  headers: { 'content-type': 'text/html' },
  body: `<!doctype html><html><head><title>${title}</title></head><body>${body}</body></html>`,
});
const json = (value: unknown): Bad => ({
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(value),
});
const redirect = (location: string): Bad => ({ status: 302, headers: { location } });

/** Sorts of bad pages that every site may answer, and the fault that each must be. */
const everywhere: Record<string, [Bad, FaultCode]> = {
  'a redirect to a login': [redirect('/login?next=%2F'), 'page_login'],
  'a login page': [html('Log in', '<form><input name="p" type="password"></form>'), 'page_login'],
  'status 403': [{ status: 403, body: 'Forbidden' }, 'page_blocked'],
  'a captcha': [html('Shop', '<div class="h-captcha"></div><p>One more step'), 'page_blocked'],
  'a check page': [html('Just a moment...', '<p>Checking your browser'), 'page_blocked'],
  'unusual traffic': [html('Sorry', '<p>We have seen unusual traffic from your network.'), 'page_blocked'],
  'a redirect to a check': [redirect('/verify/captcha?from=x'), 'page_blocked'],
  'an empty shell': [html('Shop', '<div id="root"></div><script src="/app.js"></script>'), 'page_empty'],
  nothing: [{ body: '' }, 'page_empty'],
  'a choice of countries': [html('Welcome', '<h1>Choose your country or region</h1>'), 'page_region'],
  'a choice of languages': [html('Pilih bahasa', '<a href="/en">English</a>'), 'page_region'],
  'a redirect to a choice': [redirect('/select-region?next=1'), 'page_region'],
  'any other page': [html('Spring sale', '<p>Everything must go.'), 'page_unreadable'],
};
const softNotFound = html('Page Not Found', '<h1>We could not find that page</h1>');

interface Site {
  region: string;
  /** Readers by the kind that reads units with them. */
  units: Record<string, JsonObject>;
  /** Where its real pages come from. */
  origin: string;
  /** Its own ways to say it, beside or instead of those of every site. */
  own: Record<string, [Bad, FaultCode]>;
}

const sites: Record<string, Site> = {
  mkta: {
    region: 'sg',
    origin: 'https://shop.sg',
    units: {
      get_pc: { item_id: '4', shop_id: '7' },
      variant_sold: { item_id: '4', shop_id: '7' },
      search_items: { keyword: 'lamp' },
      merchant_items: { shop_id: '7' },
    },
    own: {
      'a refusal by its number': [json({ is_login: false, action_type: 2, error: 90309999 }), 'page_blocked'],
      'a redirect to its login': [redirect('/buyer/login?next=1'), 'page_login'],
      'a soft 404': [
        json({ bff_meta: null, error: 266900002, error_msg: null, data: null }),
        'page_not_found',
      ],
      "another country's host": [redirect('https://shop.co.th/product/7/4'), 'page_region'],
      // Its paths speak JSON: a web page says something of the path, not of the item.
      'a web page that says 404': [softNotFound, 'page_failed'],
    },
  },
  mktb: {
    region: 'id',
    origin: 'https://gql.pasar.example',
    units: {
      pdp_bulk: { shop_domain: 'warung', product_key: 'rak' },
      search_bulk: { keyword: 'rak' },
      merchant_bulk: { shopid: '5' },
    },
    own: {
      'a soft 404': [softNotFound, 'page_not_found'],
      'a soft 404 of its own': [
        json([{ errors: [{ message: 'produk tidak ditemukan' }] }]),
        'page_not_found',
      ],
      "another country's host": [redirect('https://gql.pasar.com/graphql'), 'page_region'],
      'a login by its code': [
        json([{ errors: [{ message: 'x', extensions: { code: 401 } }] }]),
        'page_login',
      ],
    },
  },
  mktc: {
    region: 'id',
    origin: 'https://www.toko.example',
    units: { pdp_bulk: { formattedId: 'ps--A-1-1', sku: 'A-1-1-1' }, merchant_bulk: { shopid: 'A-1' } },
    own: {
      'a soft 404': [softNotFound, 'page_not_found'],
      'a soft 404 of its own': [json({ code: 404, status: 'NOT_FOUND', data: null }), 'page_not_found'],
      'empty data': [json({ code: 200, status: 'OK', data: {} }), 'page_not_found'],
      "another country's host": [redirect('https://www.toko.com.my/'), 'page_region'],
    },
  },
  mktd: {
    region: 'my',
    origin: 'https://www.clips.example',
    units: { pdp_bulk: { product_id: '1729000000000000001', country: 'my' } },
    own: {
      'a soft 404': [softNotFound, 'page_not_found'],
      'a soft 404 of its own': [
        html('Shop', '<p>Product not available in this country or region'),
        'page_not_found',
      ],
      'its security check': [
        html('Security Check', '<div class="captcha_verify_container"></div>'),
        'page_blocked',
      ],
      "another region's path": [redirect('/shop/th/pdp/1729000000000000001'), 'page_region'],
      "another region's page": [
        { ...html('Lamp', '<p>Lamp'), url: 'https://www.clips.example/shop/us/pdp/1729000000000000001' },
        'page_region',
      ],
      "another region's host": [redirect('https://shop-id.pasar.example/pdp/1'), 'page_region'],
    },
  },
  mkte: {
    region: 'us',
    origin: 'https://www.river.example',
    units: {
      pdp_bulk: { asin: 'B000000001', country: 'us' },
      search_bulk: { list_type: 'search', keyword: 'lamp', country: 'us', pages: 1 },
    },
    own: {
      'a soft 404': [softNotFound, 'page_not_found'],
      'its page with a dog': [
        html('Page', '<a href="/dogsofamazon/"><img alt="Dogs of Amazon"></a>'),
        'page_not_found',
      ],
      'its robot check': [
        html('Amazon.com', '<form action="/errors/validateCaptcha"></form>'),
        'page_blocked',
      ],
      'its sign-in': [
        html('Amazon Sign-In', '<form name="signIn"><input type="email"></form>'),
        'page_login',
      ],
      'another store': [redirect('https://www.amazon.de/dp/B000000001'), 'page_region'],
      'its apology': [html('Sorry! Something went wrong!', ''), 'page_throttled'],
    },
  },
  mktf: {
    region: '',
    origin: 'https://kiln.example',
    units: { search_bulk: { url: 'https://kiln.example/collections/cups' } },
    own: {
      'a soft 404': [softNotFound, 'page_not_found'],
      'a soft 404 of its own': [json({ errors: 'Not Found' }), 'page_not_found'],
      'a closed store': [redirect('/password'), 'page_private'],
      'status 401': [{ status: 401, body: '' }, 'page_private'],
      "another country's host": [
        { ...json({ products: [] }), url: 'https://uk.kiln.example/collections/cups/products.json' },
        'page_region',
      ],
      "another country's path": [
        { ...json({ products: [] }), url: 'https://kiln.example/en-ca/collections/cups/products.json' },
        'page_region',
      ],
    },
  },
};
/** Requests that a unit may cost: one where another try cannot help. */
const requestsOf = { never: 1, soon: 4, later: 6 };

const cases = Object.entries(sites).flatMap(([market, { units, own }]) =>
  Object.keys(units).flatMap((kind) =>
    Object.entries({ ...everywhere, ...own }).map(
      ([sort, [bad, code]]) => [market, kind, sort, code, requestsOf[faultCodes[code]], bad] as const,
    ),
  ),
);

describe('a page that is not what was asked for is a fault, never a result', () => {
  const offers = resolveOffers(services, kinds, markets);
  const log = createLog('silent', 'test');
  const store = openSqliteStore({ path: ':memory:' });
  const drift = createDriftWatch({ store, clock: systemClock, log, shapes: listedFields });
  let folder: string;
  let blobs: Blobs;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'gleaner-content-'));
    blobs = openFiles({ directory: folder });
  });
  afterAll(async () => {
    await blobs.close();
    await store.close();
    await rm(folder, { recursive: true });
  });

  test.each(cases)('%s, %s: %s is %s, in %d requests', async (market, kind, _sort, code, requests, bad) => {
    const { region, units, origin } = sites[market]!;
    const asked: PageRequest[] = [];
    let now = 0;
    const context = {
      blobs,
      log,
      offers,
      drift,
      random: () => 0.5,
      clock: {
        now: () => now,
        sleep: async (ms: number) => {
          now += ms;
        },
      },
      pages: {
        visit: () => ({
          fetch: async (request: PageRequest): Promise<PageAnswer> => {
            asked.push(request);
            const { status = 200, headers = {}, body = '', url = origin + request.path } = bad;
            return { status, headers, body: Buffer.from(body), url, at: now };
          },
          ended: async () => {},
        }),
        concurrency: () => 1,
      },
    } as unknown as JobContext;
    const job = aJob({ market, kind, id: newId() });
    const batch = aBatch(job, 0, [{ key: 'unit', input: units[kind]! }], { region });
    const { outcome, payload } = await readUnit(context, job, batch, 0, new AbortController().signal);
    expect(outcome).toMatchObject({ status: 'FAILED', code });
    expect(payload).toBeUndefined();
    expect(asked).toHaveLength(requests);
  });
});
