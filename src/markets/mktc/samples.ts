import { type MarketSamples, sampleIds } from '../sample.ts';

/** Samples for every kind that the market offers. */
export const samples: MarketSamples = () => [
  {
    title: 'product pages',
    kind: 'pdp_bulk',
    body: {
      items: sampleIds(30, 10000).map((id) => ({
        formattedId: `ps--GLN-60001-${id}`,
        sku: `GLN-60001-${id}-00001`,
      })),
    },
  },
  {
    title: 'merchants',
    kind: 'merchant_bulk',
    body: { items: [{ shopid: 'GLN-60101' }, { shopid: 'GLN-60102', limit: 50 }] },
  },
];
