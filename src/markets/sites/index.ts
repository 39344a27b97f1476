import type { JsonObject } from '../../base/json.ts';
import type { RecordFields } from '../../quality/record-schema.ts';
import { declaredSites } from '../declared-sites/declared-sites.ts';
import { hasHost } from '../declared-sites/site-declaration.ts';
import { integer, number, objects, text } from '../fields.ts';
import type { IdForms, ListedFields, Market, TrackedPages } from '../market.ts';
import { type MarketSamples, sampleIds } from '../sample.ts';
import { trackedItem } from '../tracked.ts';
import { product } from './product.ts';
import { search } from './search.ts';

const fields: RecordFields = {
  id: 'string',
  site: 'string',
  url: 'string',
  title: 'string?',
  brand: 'string?',
  sku: 'string?',
  gtin: 'string?',
  mpn: 'string?',
  description: 'string?',
  category: 'string?',
  price: 'number?',
  currency: 'string?',
  list_price: 'number?',
  availability: 'string?',
  available: 'boolean?',
  condition: 'string?',
  seller: 'string?',
  rating: 'number?',
  review_count: 'integer?',
  images: 'array',
  variants: 'array',
  'variants[].id': 'string?',
  'variants[].name': 'string?',
  'variants[].price': 'number?',
  'variants[].available': 'boolean?',
  extra: 'object',
};

/** Fields that every record of each page has (docs/pages.md). */
const listedFields: ListedFields = { product: fields, search: fields };

/** Shops rarely state a number of pieces. */
function readItem(record: JsonObject) {
  const { available } = record;
  return trackedItem(record.id, {
    title: text(record.title),
    price: number(record.price),
    currency: text(record.currency),
    available: typeof available === 'boolean' ? available : null,
    rating: number(record.rating),
    variants: objects(record.variants).map((variant) => ({
      id: text(variant.id),
      name: text(variant.name),
      price: number(variant.price),
      stock: variant.available === false ? 0 : null,
    })),
    brand: text(record.brand),
    listPrice: number(record.list_price),
    reviews: integer(record.review_count),
    seller: text(record.seller),
  });
}

const tracked: TrackedPages = { product: readItem, search: readItem };

/** Forms of ids: none but addresses, which parseUrl() parses. */
const ids: IdForms = {
  product: { form: 'the address of a product page', parse: () => null },
  search: { form: 'the address of a listing', parse: () => null },
};

/** Samples for every kind that the market offers, on the site that the sandbox has. */
const samples: MarketSamples = () => [
  {
    title: 'product pages',
    kind: 'pdp_bulk',
    body: {
      site: 'example',
      items: sampleIds(30, 10_000).map((id) => ({ url: `https://shop.example/p/${id}` })),
    },
  },
  {
    title: 'listings',
    kind: 'search_bulk',
    body: {
      site: 'example',
      items: [
        { url: 'https://shop.example/c/mugs-30' },
        { url: 'https://shop.example/c/lamps-45' },
      ],
    },
  },
];

const notAddress = 'not an http or https address';

/** The shops that operators declare: each is a region with its own hosts and limits. */
export const sites: Market = {
  name: 'sites',
  get regions() {
    return declaredSites.names();
  },
  hasNamedOrigins: true,
  readers: { product, search },
  listedFields,
  ids,
  samples,
  tracked,
  policy: { concurrency: 2, requestsPerSecond: 1, robots: true },
  regionPolicy: (region) => declaredSites.find(region)?.policy,
  prices: { product: 1, search: 1 },
  parseUrl(page, link) {
    const url = URL.parse(link);
    if (url === null || !/^https?:$/.test(url.protocol)) throw new Error(notAddress);
    if (url.username !== '' || url.password !== '')
      throw new Error('an address must not contain a user or password');
    const site = declaredSites.ofAddress(url);
    if (site === undefined) throw new Error(`no declared site has the host ${url.host}`);
    return { input: { url: link }, region: site.name, type: page };
  },
  problemOf({ url }, region) {
    const site = declaredSites.find(region);
    const address = typeof url === 'string' ? URL.parse(url) : null;
    // parseUrl() refuses addresses of no site.
    if (!site || !address || hasHost(site, address) || !declaredSites.ofAddress(address))
      return null;
    return {
      name: 'url',
      msg: `'${address.host}' is not one of the hosts ${site.hosts.join(', ')}`,
    };
  },
};
