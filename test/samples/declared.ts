import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { JsonObject } from '../../src/base/json.ts';
import type { PageResponse } from '../../src/fetch/page.ts';
import { parseSites } from '../../src/markets/declared-sites/site-declaration.ts';
import { recordOf } from '../../src/markets/declared-sites/site-fields.ts';
import { openSitePage } from '../../src/markets/declared-sites/site-page.ts';
import { readProductPage } from '../../src/markets/declared-sites/site-product.ts';
import { bodyText, parseHtml } from '../../src/markets/html/html.ts';
import type { Market } from '../../src/markets/market.ts';
import { sites } from '../../src/markets/sites/index.ts';
import type { Miss } from './compare.ts';
import type { Sample } from './manifest.ts';
import { responseOf } from './run.ts';

/** Declarations of the marketplaces whose product pages are HTML, by their names. */
const declarations = `{
  "mktd": {
    "hosts": ["www.tiktok.com"],
    "fields": {
      "title": ["schema.org", {"json": "{page}.product_base.title", "script": "__MODERN_ROUTER_DATA__"}],
      "price": ["schema.org", {"json": "{page}.product_base.price.min_sku_price", "script": "__MODERN_ROUTER_DATA__"}],
      "currency": ["schema.org", {"json": "{page}.product_base.price.currency", "script": "__MODERN_ROUTER_DATA__"}]
    }
  },
  "mkte": {
    "hosts": ["www.amazon.com"],
    "fields": {
      "title": ["schema.org", "#productTitle"],
      "price": [
        "schema.org", "#apex_desktop_newAccordionRow .priceToPay", "#corePriceDisplay_desktop_feature_div .priceToPay",
        "#kindle-price", "#usedBuySection .offer-price"
      ],
      "availability": ["schema.org", "#availability span"]
    }
  }
}`.replaceAll(
  '{page}',
  'loaderData.shop/pdp/(product_name_slug$)/(product_id)/page.page_config.components_map.3.component_data.product_info',
);

/** Values that both readers should agree on, where both have them. */
const compared = ['title', 'price', 'currency', 'available'] as const;

/** Result of comparing a page: the values that both readers have, and those that differ. */
export interface Comparison {
  agreed: string[];
  misses: Miss[];
}

/**
 * Reads a product page by the declaration of its marketplace, and compares the result with the
 * record of the marketplace's own reader. Null for a marketplace without a declaration.
 */
function compareDeclared(
  market: Market,
  record: JsonObject,
  response: PageResponse,
): Comparison | null {
  const site = parseSites(declarations).find(({ name }) => name === market.name);
  const own = market.tracked?.product?.(record);
  if (site === undefined || !own) return null;
  const read = readProductPage(openSitePage(parseHtml(bodyText(response)), response.url, site));
  const declared = read && sites.tracked!.product!(recordOf(read, response.url, site));
  if (!declared)
    return { agreed: [], misses: [{ path: 'declared', expected: 'a product', got: 'nothing' }] };
  const both = compared.filter((name) => own[name] !== null && declared[name] !== null);
  const differing = both.filter((name) => own[name] !== declared[name]);
  return {
    agreed: both.filter((name) => own[name] === declared[name]),
    misses: differing.map((name) => ({
      path: `declared ${name}`,
      expected: String(own[name]),
      got: String(declared[name]),
    })),
  };
}

/**
 * Compares every product page of a folder that has a declaration and a record. Returns the number
 * of values that agree, and those that differ, by their files.
 */
export async function compareFolder(
  folder: string,
  entries: readonly Sample[],
  markets: readonly Market[],
): Promise<{ agreed: number; misses: Miss[] }> {
  let agreed = 0;
  const misses: Miss[] = [];
  for (const entry of entries) {
    const market = markets.find(({ name }) => name === entry.market);
    const reader = market?.readers.product;
    const isRead =
      entry.page === 'product' && entry.outcome === 'record' && entry.content_type === 'text/html';
    if (!isRead || reader?.sort !== 'record') continue;
    const response = responseOf(entry, await readFile(join(folder, entry.file)), 0);
    let record: JsonObject;
    try {
      record = reader.extract(response, entry.request, entry.region);
    } catch {
      // Reported by runSample().
      continue;
    }
    const compared = compareDeclared(market!, record, response);
    agreed += compared?.agreed.length ?? 0;
    misses.push(
      ...(compared?.misses ?? []).map((miss) => ({ ...miss, path: `${entry.file}: ${miss.path}` })),
    );
  }
  return { agreed, misses };
}
