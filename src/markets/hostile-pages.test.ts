import { afterEach, describe, expect, test, vi } from 'vitest';
import { hostileJson, hostilePages } from '../../test/support/pages/hostile-pages.ts';
import type { PageResponse } from '../fetch/page.ts';
import { declaredSites } from './declared-sites/declared-sites.ts';
import { parseSites } from './declared-sites/site-declaration.ts';
import type { PageWork } from './html/page-work.ts';
import { markets } from './list.ts';
import type { Reader } from './market.ts';

const counted = vi.hoisted(() => ({ steps: 0 }));

vi.mock('./html/page-work.ts', async (original) => {
  const { createPageWork } = await original<{ createPageWork(): PageWork }>();
  return {
    createPageWork: (): PageWork => {
      const work = createPageWork();
      const counts =
        <T>(count: (amount: T) => void) =>
        (amount: T) => {
          const before = work.steps;
          try {
            count(amount);
          } finally {
            counted.steps += work.steps - before;
          }
        };
      return {
        get steps() {
          return work.steps;
        },
        add: counts(work.add),
        addRead: counts(work.addRead),
        addSearch: counts(work.addSearch),
        addParsed: counts(work.addParsed),
      };
    },
  };
});

const [kiln] = parseSites(`{
  "kiln": {
    "hosts": ["kiln.example"],
    "currency": "EUR",
    "fields": {
      "title": ["schema.org", "h1"],
      "price": [".product .product .product .price", "h2 ~ b ~ .price", { "json": "a.b", "script": "state" }],
      "images": { "css": "a", "attribute": "href" },
    },
    "listing": { "items": ".card", "fields": { "title": "h2", "price": "i" }, "next": "a[rel=next]" },
  },
}`);

afterEach(() => vi.restoreAllMocks());

/** Readers of pages of one type, with the inputs of all of them. */
function readersOf(names: readonly string[]): { name: string; reader: Reader; region: string }[] {
  return markets
    .filter(({ name }) => names.includes(name))
    .flatMap(({ name, readers, regions }) =>
      Object.entries(readers).map(([page, reader]) => ({
        name: `${name} ${page}`,
        reader,
        region: name === 'sites' ? 'kiln' : (regions[0] ?? ''),
      })),
    );
}

const input = {
  url: 'https://kiln.example/p/1',
  asin: 'B0GLN01705',
  product_id: '1729',
  item_id: '1',
  shop_id: '1',
  keyword: 'a',
  list_type: 'search',
  shop_domain: 'a',
  product_key: 'b',
  shopid: '1',
  sku: 'a',
};

/** Returns the steps of reading a page, with those of its failure. */
function stepsOf(reader: Reader, region: string, body: string): number {
  vi.spyOn(declaredSites, 'find').mockReturnValue(kiln);
  const response: PageResponse = {
    status: 200,
    headers: {},
    body: Buffer.from(body),
    url: input.url,
    at: 0,
  };
  counted.steps = 0;
  try {
    reader.extract(response, input, region);
  } catch (thrown) {
    expect(thrown).toMatchObject({ code: expect.stringMatching(/^page_/) });
  }
  return counted.steps;
}

const smallBytes = 60_000;
/** Steps of a page without content. */
const fixedSteps = 4_000;

describe('the steps of a reader double with the page at most', () => {
  const readers = readersOf(['sites', 'mkte', 'mktd', 'mktf']);
  test.each(Object.entries(hostilePages))('%s', (_name, page) => {
    for (const { name, reader, region } of readers) {
      const steps = Math.max(stepsOf(reader, region, page(smallBytes)), fixedSteps);
      expect(stepsOf(reader, region, page(2 * smallBytes)) / steps, name).toBeLessThan(2.3);
    }
  });
});

describe('readers of JSON end with a record or a fault', () => {
  const readers = readersOf(['mkta', 'mktb', 'mktc', 'mktd', 'mktf']);
  test.each(Object.entries(hostileJson))('%s', (_name, page) => {
    for (const { reader, region } of readers) stepsOf(reader, region, page(smallBytes));
  });
});
