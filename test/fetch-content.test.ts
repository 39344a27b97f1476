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
import type { PageRequest, PageResponse } from '../src/fetch/page.ts';
import type { JobContext } from '../src/jobs/context.ts';
import { resolveJobTypes } from '../src/jobs/job-types.ts';
import { readUnit } from '../src/jobs/steps/read-unit.ts';
import { kinds } from '../src/kinds/list.ts';
import { markets } from '../src/markets/list.ts';
import { listedFields } from '../src/markets/lookup.ts';
import { createDriftWatcher } from '../src/quality/drift-watcher.ts';
import { aBatch, aJob } from '../src/store/conformance/samples.ts';
import { openSqliteStore } from '../src/store/sqlite/open.ts';
import { noMetrics } from '../src/telemetry/metrics.ts';

/** Response of a site instead of the requested page. */
interface BadPage {
  status?: number;
  headers?: Record<string, string>;
  body?: string;
  /** URL of the response; the requested one by default. */
  url?: string;
}

const html = (title: string, body: string): BadPage => ({
  headers: { 'content-type': 'text/html' },
  body: `<!doctype html><html><head><title>${title}</title></head><body>${body}</body></html>`,
});
const json = (value: unknown): BadPage => ({
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(value),
});
const redirect = (location: string): BadPage => ({ status: 302, headers: { location } });

/** Bad pages that any site may return, with the expected fault. */
const commonPages: Record<string, [BadPage, FaultCode]> = {
  'a redirect to a login': [redirect('/login?next=%2F'), 'page_login'],
  'a login page': [html('Log in', '<form><input name="p" type="password"></form>'), 'page_login'],
  'status 403': [{ status: 403, body: 'Forbidden' }, 'page_blocked'],
  'a captcha': [html('Shop', '<div class="h-captcha"></div><p>One more step'), 'page_blocked'],
  'a check page': [html('Just a moment...', '<p>Checking your browser'), 'page_blocked'],
  'unusual traffic': [
    html('Sorry', '<p>We have seen unusual traffic from your network.'),
    'page_blocked',
  ],
  'a redirect to a check': [redirect('/verify/captcha?from=x'), 'page_blocked'],
  'an empty shell': [
    html('Shop', '<div id="root"></div><script src="/app.js"></script>'),
    'page_empty',
  ],
  nothing: [{ body: '' }, 'page_empty'],
  'a choice of countries': [
    html('Welcome', '<h1>Choose your country or region</h1>'),
    'page_region',
  ],
  'a choice of languages': [html('Pilih bahasa', '<a href="/en">English</a>'), 'page_region'],
  'a redirect to a choice': [redirect('/select-region?next=1'), 'page_region'],
  'any other page': [html('Spring sale', '<p>Everything must go.'), 'page_unreadable'],
};
const softNotFound = html('Page Not Found', '<h1>We could not find that page</h1>');

interface Site {
  region: string;
  /** Unit inputs by kind. */
  units: Record<string, JsonObject>;
  /** Origin of its pages. */
  origin: string;
  /** Bad pages of this site, in addition to the common ones or instead of them. */
  own: Record<string, [BadPage, FaultCode]>;
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
      'its error code for a block': [
        json({ is_login: false, action_type: 2, error: 90309999 }),
        'page_blocked',
      ],
      'a redirect to its login': [redirect('/buyer/login?next=1'), 'page_login'],
      'a soft 404': [
        json({ bff_meta: null, error: 266900002, error_msg: null, data: null }),
        'page_not_found',
      ],
      "another country's host": [redirect('https://shop.co.th/product/7/4'), 'page_region'],
      // Its paths return JSON: a web page concerns the path, not the item.
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
      'its error code for a login': [
        json([{ errors: [{ message: 'x', extensions: { code: 401 } }] }]),
        'page_login',
      ],
    },
  },
  mktc: {
    region: 'id',
    origin: 'https://www.toko.example',
    units: {
      pdp_bulk: { formattedId: 'ps--A-1-1', sku: 'A-1-1-1' },
      merchant_bulk: { shopid: 'A-1' },
    },
    own: {
      'a soft 404': [softNotFound, 'page_not_found'],
      'a soft 404 of its own': [
        json({ code: 404, status: 'NOT_FOUND', data: null }),
        'page_not_found',
      ],
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
        {
          ...html('Lamp', '<p>Lamp'),
          url: 'https://www.clips.example/shop/us/pdp/1729000000000000001',
        },
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
        {
          ...json({ products: [] }),
          url: 'https://uk.kiln.example/collections/cups/products.json',
        },
        'page_region',
      ],
      "another country's path": [
        {
          ...json({ products: [] }),
          url: 'https://kiln.example/en-ca/collections/cups/products.json',
        },
        'page_region',
      ],
    },
  },
};
/** Expected requests of a unit: one if the fault is not retried. */
const requestCounts = { never: 1, soon: 4, later: 6 };

const cases = Object.entries(sites).flatMap(([market, { units, own }]) =>
  Object.keys(units).flatMap((kind) =>
    Object.entries({ ...commonPages, ...own }).map(
      ([page, [bad, code]]) =>
        [market, kind, page, code, requestCounts[faultCodes[code]], bad] as const,
    ),
  ),
);

describe('readUnit()', () => {
  const jobTypes = resolveJobTypes(services, kinds, markets);
  const log = createLog('silent', 'test');
  const store = openSqliteStore({ path: ':memory:' });
  const drift = createDriftWatcher({ store, clock: systemClock, log, listedFields });
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

  test.each(cases)(
    'fails a unit of %s, %s, for %s with %s after %d requests',
    async (market, kind, _page, code, requests, bad) => {
      const { region, units, origin } = sites[market]!;
      const sent: PageRequest[] = [];
      let now = 0;
      const context = {
        blobs,
        log,
        jobTypes,
        drift,
        metrics: noMetrics,
        random: () => 0.5,
        clock: {
          now: () => now,
          steady: () => now,
          sleep: async (ms: number) => {
            now += ms;
          },
        },
        pages: {
          openSession: () => ({
            fetch: async (request: PageRequest): Promise<PageResponse> => {
              sent.push(request);
              const { status = 200, headers = {}, body = '', url = origin + request.path } = bad;
              return { status, headers, body: Buffer.from(body), url, at: now };
            },
            end: async () => {},
          }),
          concurrency: () => 1,
        },
      } as unknown as JobContext;
      const job = aJob({ market, kind, id: newId() });
      const batch = aBatch(job, 0, [{ key: 'unit', input: units[kind]! }], { region });
      const never = new AbortController().signal;
      let budget = { tries: 0, until: Number.POSITIVE_INFINITY };
      let result = await readUnit(context, job, batch, 0, never, budget);
      while ('until' in result) {
        budget = { ...budget, tries: result.tries };
        result = await readUnit(context, job, batch, 0, never, budget);
      }
      const { outcome, payload } = result;
      expect(outcome).toMatchObject({ status: 'FAILED', code });
      expect(payload).toBeUndefined();
      expect(sent).toHaveLength(requests);
    },
  );
});
