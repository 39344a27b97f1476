import { type MarketSamples, sampleIds } from '../sample.ts';

/** Samples for every kind that the market offers. */
export const samples: MarketSamples = () => [
  {
    title: 'product pages',
    kind: 'pdp_bulk',
    body: {
      items: sampleIds(30, 1_729_000_000_000).map((id, at) => ({
        product_id: id,
        country: at % 2 ? 'my' : 'th',
      })),
    },
  },
];
