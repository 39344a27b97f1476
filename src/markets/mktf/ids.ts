import type { IdForms } from '../market.ts';
import type { MarketSamples } from '../sample.ts';

/** Forms of ids: none but addresses, which parseUrl() parses. */
export const ids: IdForms = {
  search: { form: 'the address of a store, a collection or a search', parse: () => null },
};

/** Samples for every kind that the market offers. */
export const samples: MarketSamples = (address) => [
  {
    title: 'stores',
    kind: 'search_bulk',
    body: { items: [{ url: `${address}/collections/lamps` }, { url: `${address}/search?q=clay+mug` }] },
  },
];
