import type { Json, JsonObject } from '../../base/json.ts';
import { pathPart } from '../../contract/path-part.ts';
import { number, objects, text } from '../fields.ts';
import type { IdForms, ListedFields, Market, TrackedPages } from '../market.ts';
import type { MarketSamples } from '../sample.ts';
import { cheapest, trackedItem } from '../tracked.ts';
import { search } from './search.ts';
import { storePage } from './urls.ts';

/** Fields that every record of each page has (docs/pages.md). */
const listedFields: ListedFields = {
  search: {
    id: 'integer',
    title: 'string',
    handle: 'string',
    body_html: 'string?',
    vendor: 'string?',
    product_type: 'string?',
    tags: 'array',
    variants: 'array',
    'variants[].id': 'integer',
    'variants[].title': 'string',
    'variants[].price': 'string',
    'variants[].available': 'boolean',
    images: 'array',
    options: 'array',
  },
};

/** Returns true if one variant can be bought, false if none can, and null if that is unknown. */
function isAvailable(variants: readonly JsonObject[]): boolean | null {
  const states = variants.map(({ available }) => available);
  if (states.includes(true)) return true;
  return states.length > 0 && states.every((state) => state === false) ? false : null;
}

/**
 * Returns a price of a variant. Null for an integer that is no text: catalogues write text in
 * currency units, other responses of the platform integers in cents.
 */
const amountOf = (price: Json | undefined): number | null =>
  Number.isInteger(price) ? null : number(price);

/** Stores state whether a variant can be bought, and no number of pieces. */
function trackedProduct(record: JsonObject) {
  const variants = objects(record.variants);
  const offers = variants.map((variant) => ({
    price: amountOf(variant.price),
    before: amountOf(variant.compare_at_price),
  }));
  // A variant with an unknown price can be the one with the lowest price.
  const lowest = offers.every(({ price }) => price !== null) ? cheapest(offers) : undefined;
  return trackedItem(record.id, {
    title: text(record.title),
    price: lowest?.price ?? null,
    available: isAvailable(variants),
    variants: variants.map((variant) => ({
      id: text(variant.id),
      name: text(variant.title),
      price: amountOf(variant.price),
      stock: variant.available === false ? 0 : null,
    })),
    brand: text(record.vendor),
    listPrice: lowest?.before ?? null,
  });
}

/** Returns the path of a product's page at its store. */
function pagePath({ handle }: JsonObject): string | null {
  if (typeof handle === 'string' && handle !== '') return `/products/${pathPart(handle)}`;
  return null;
}

const tracked: TrackedPages = { search: trackedProduct };

/** Forms of ids: none but addresses, which parseUrl() parses. */
const ids: IdForms = {
  search: { form: 'the address of a store, a collection or a search', parse: () => null },
};

/** Samples for every kind that the market offers. */
const samples: MarketSamples = (address) => [
  {
    title: 'stores',
    kind: 'search_bulk',
    body: {
      items: [{ url: `${address}/collections/lamps` }, { url: `${address}/search?q=clay+mug` }],
    },
  },
];

/** Marketplace F: any store that publishes its catalogue as JSON. */
export const mktf: Market = {
  name: 'mktf',
  regions: [],
  hasNamedOrigins: true,
  readers: { search },
  listedFields,
  ids,
  samples,
  tracked,
  storeOf: (address) => URL.parse(address)?.host ?? '',
  pagePath,
  // A store is a small shop, named by a caller.
  policy: { concurrency: 2, requestsPerSecond: 2, robots: true },
  prices: { search: 1 },
  // A page of 250 products is about 1 MB, a catalogue of 25,000 about 100 MB.
  limits: { pageBytes: 6 * 1024 ** 2, unitBytes: 128 * 1024 ** 2 },
  parseUrl: (page, url) => {
    if (page !== 'search') throw new Error(`a store has no ${page} page`);
    return { input: { url }, region: '', type: storePage(url).type };
  },
};
