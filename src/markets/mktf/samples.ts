import type { MarketSamples } from '../sample.ts';

/** Samples for every kind that the market offers. */
export const samples: MarketSamples = (address) => [
  {
    title: 'stores',
    kind: 'search_bulk',
    body: { items: [{ url: `${address}/collections/lamps` }, { url: `${address}/search?q=clay+mug` }] },
  },
];
