import type { IdForms } from '../market.ts';
import { type MarketSamples, sampleIds } from '../sample.ts';

/** Forms of ids: none but addresses, which parseUrl() parses. */
export const ids: IdForms = {
  product: { form: 'the address of a product page', parse: () => null },
  search: { form: 'the address of a listing', parse: () => null },
};

/** Samples for every kind that the market offers, on the site that the sandbox has. */
export const samples: MarketSamples = () => [
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
      items: [{ url: 'https://shop.example/c/mugs-30' }, { url: 'https://shop.example/c/lamps-45' }],
    },
  },
];
