import { PdpItemSchema } from '../../../gen/gleaner/mkte/v1/mkte_pb.ts';
import { itemForm, searchForm } from '../id-form.ts';
import type { IdForms, Market } from '../market.ts';
import { type MarketSamples, sampleIds } from '../sample.ts';
import { listedFields, tracked } from './fields.ts';
import { product } from './product.ts';
import { regions } from './regions.ts';
import { search } from './search.ts';

const ids: IdForms = {
  product: itemForm('<ASIN>, or its address', PdpItemSchema),
  search: searchForm,
};

/** Samples for every kind that the market offers. */
const samples: MarketSamples = () => [
  {
    title: 'product pages',
    kind: 'pdp_bulk',
    body: {
      items: sampleIds(20, 1000).map((id, at) => ({
        asin: `B0GLN0${id}`,
        country: at % 2 ? 'de' : 'us',
      })),
    },
  },
  {
    title: 'searches',
    kind: 'search_bulk',
    body: {
      items: [
        { list_type: 'search', keyword: 'desk lamp', country: 'uk' },
        { list_type: 'category', keyword: '1101', category: '1101', country: 'jp', pages: 1 },
      ],
    },
  },
];

export const mkte: Market = {
  name: 'mkte',
  regions: Object.keys(regions),
  readers: { product, search },
  listedFields,
  ids,
  samples,
  tracked,
  policy: { concurrency: 6, requestsPerSecond: 10 },
};
