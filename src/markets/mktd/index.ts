import { PdpItemSchema } from '../../../gen/gleaner/mktd/v1/mktd_pb.ts';
import { itemForm } from '../id-form.ts';
import type { IdForms, Market } from '../market.ts';
import { type MarketSamples, sampleIds } from '../sample.ts';
import { listedFields, tracked } from './fields.ts';
import { product } from './product.ts';
import { regions } from './regions.ts';

/** Forms of ids. */
const ids: IdForms = {
  product: itemForm('<product id>, or its address', PdpItemSchema),
};

/** Samples for every kind that the market offers. */
const samples: MarketSamples = () => [
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

/** Marketplace D, the short-video shop. */
export const mktd: Market = {
  name: 'mktd',
  regions,
  readers: { product },
  listedFields,
  tracked,
  ids,
  samples,
};
