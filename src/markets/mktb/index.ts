import { PdpItemSchema } from '../../../gen/gleaner/mktb/v1/mktb_pb.ts';
import { quote } from '../../contract/problem-texts.ts';
import { itemForm, searchForm, textForm } from '../id-form.ts';
import type { IdForms, Market } from '../market.ts';
import { type MarketSamples, sampleIds } from '../sample.ts';
import { listedFields, tracked } from './fields.ts';
import { merchant } from './merchant.ts';
import { product } from './product.ts';
import { isCategory, search } from './search.ts';

const ids: IdForms = {
  product: itemForm('<shop domain>/<product key>, or its address', PdpItemSchema),
  search: searchForm,
  merchant: textForm('shopid', 'the number or the name of a shop'),
};

/** Samples for every kind that the market offers. */
const samples: MarketSamples = () => [
  {
    title: 'product pages',
    kind: 'pdp_bulk',
    body: {
      items: sampleIds(30, 1000).map((id) => ({
        shop_domain: 'toko-7',
        product_key: `barang-${id}`,
      })),
    },
  },
  {
    title: 'searches',
    kind: 'search_bulk',
    body: {
      items: [
        { keyword: 'kopi 101' },
        { list_type: 'category', keyword: '1102', category: 'dapur', product_limit: 90 },
      ],
    },
  },
  {
    title: 'shops',
    kind: 'merchant_bulk',
    body: { items: [{ shopid: '6001' }, { shopid: '6002', max_pages: 1 }] },
  },
];

export const mktb: Market = {
  name: 'mktb',
  regions: ['id'],
  readers: { product, search, merchant },
  listedFields,
  ids,
  samples,
  tracked,
  // A category is identified by its number.
  problemOf: (input) => {
    const keyword = String(input.keyword);
    if (!isCategory(input) || /^[0-9]{1,19}$/.test(keyword)) return null;
    return { name: 'keyword', msg: `Value is not the number of a category: ${quote(keyword)}` };
  },
};
