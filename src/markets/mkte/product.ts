import type { JsonObject } from '../../base/json.ts';
import { pathPart } from '../../contract/path-part.ts';
import type { PageRequest, PageResponse } from '../../fetch/page.ts';
import { text } from '../fields.ts';
import { attribute, find, type HtmlPage } from '../html/html.ts';
import type { ReadContext, RecordReader } from '../market.ts';
import { pageTime } from '../responses/response.ts';
import { parsePage } from './faults.ts';
import { checkAsin } from './identity.ts';
import { readImages } from './images.ts';
import { readPrice } from './price.ts';
import { homeCurrency, regions, requestHeaders, visitorPreferences } from './regions.ts';
import { readSeller } from './seller.ts';
import { readSpecifications } from './specifications.ts';
import {
  readBrand,
  readBreadcrumbs,
  readContributors,
  readDescription,
  readFeatures,
  readRating,
  readReviewCount,
  readStockText,
  readTitle,
} from './texts.ts';
import { parentAsin, readVariants } from './variants.ts';

/**
 * Builds the request for a product page. The query keeps the site from showing a sibling instead.
 */
function productRequest(asin: string, region: string): PageRequest {
  return {
    path: `/dp/${pathPart(asin)}?th=1&psc=1`,
    headers: requestHeaders(region),
    preferences: visitorPreferences(region),
    redirects: 'same_origin',
  };
}

/** Returns the product's address in its store; for an unknown region, the page's canonical link. */
function addressOf(page: HtmlPage, asin: string, region: string): string | null {
  const host = regions[region]?.host;
  return host === undefined
    ? attribute(find(page.root, 'link[rel="canonical"]'), 'href')
    : `https://${host}/dp/${asin}`;
}

function extract(response: PageResponse, input: JsonObject, region: string): JsonObject {
  const asin = String(input.asin);
  const page = parsePage(response, 'product page', (candidate) => readTitle(candidate) !== null);
  const variants = readVariants(page);
  checkAsin(page, response.url, asin, new Set(variants.map((variant) => String(variant.asin))));
  const { price, kind } = readPrice(page, homeCurrency(region));
  const specifications = readSpecifications(page);
  return {
    _scraped_at: new Date(pageTime(response)).toISOString(),
    _asin: asin,
    _country: text(input.country) ?? region,
    title: readTitle(page),
    brand: readBrand(page, specifications),
    price: { ...price },
    availability: readStockText(page, kind),
    rating: readRating(page),
    review_count: readReviewCount(page),
    url: addressOf(page, asin, region),
    images: readImages(page),
    features: readFeatures(page),
    description: readDescription(page),
    specifications: specifications.map((specification) => ({ ...specification })),
    variants,
    seller: readSeller(page, kind),
    condition: kind === 'used' ? 'used' : null,
    parent_asin: parentAsin(page, asin),
    breadcrumbs: readBreadcrumbs(page),
    contributors: readContributors(page),
  };
}

/**
 * Reads a product page (docs/kinds/product-pages-bulk.md): the listed fields, the `condition` of a
 * used offer, `parent_asin`, the category path and a book's contributors. `input` has `asin` and
 * `country`. Throws the faults of parsePage(); `page_mismatch` for another product's page. The
 * price of a product without one is null.
 */
export const product: RecordReader = {
  sort: 'record',
  read: async (input: JsonObject, { region, fetch }: ReadContext) =>
    extract(await fetch(productRequest(String(input.asin), region)), input, region),
  extract,
};
