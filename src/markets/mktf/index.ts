import type { IdForms, Market } from '../market.ts';
import type { MarketSamples } from '../sample.ts';
import { listedFields, pagePath, tracked } from './fields.ts';
import { search } from './search.ts';
import { storePage } from './urls.ts';

/** Forms of ids: none but addresses, which parseUrl() parses. */
const ids: IdForms = {
  search: { form: 'the address of a store, a collection or a search', parse: () => null },
};

/** Samples for every kind that the market offers. */
const samples: MarketSamples = (address) => [
  {
    title: 'stores',
    kind: 'search_bulk',
    body: { items: [{ url: `${address}/collections/lamps` }, { url: `${address}/search?q=clay+mug` }] },
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
