import { patternForm, textForm } from '../id-form.ts';
import type { IdForms, Market } from '../market.ts';
import { type MarketSample, type MarketSamples, sampleIds } from '../sample.ts';
import { listedFields, pictureUrl, tracked } from './fields.ts';
import { merchant } from './merchant.ts';
import { product, variants } from './product.ts';
import { search } from './search.ts';
import { pagePath, parseUrl, regions } from './urls.ts';

const item = patternForm(
  '<shop id>/<item id>, or its address',
  /^(?<shop_id>[1-9]\d*)[/.](?<item_id>[1-9]\d*)$/,
);

/** Forms of ids. Addresses are parsed by parseUrl(). */
const ids: IdForms = {
  product: item,
  variants: item,
  search: textForm('keyword', 'a keyword, or the address of a search or category'),
  merchant: patternForm('<shop id>, or its address', /^(?<shop_id>[1-9]\d*)$/),
};

const variantsSold = (country: string, count: number): MarketSample => ({
  title: `variants sold, ${country}`,
  kind: 'variant_sold',
  body: {
    country,
    items: sampleIds(count, 20_000_000_000).map((id) => ({ item_id: id, shop_id: '7001' })),
  },
});

const csv = (count: number) =>
  [
    'region,shop_id,item_id',
    ...sampleIds(count, 31_000_000_000).map((id, at) => `${at % 2 ? 'my' : 'sg'},7002,${id}`),
  ].join('\n');

/** Samples for every kind that the market offers. */
const samples: MarketSamples = () => [
  variantsSold('id', 300),
  variantsSold('sg', 260),
  {
    title: 'one product page',
    kind: 'get_pc',
    body: { region: 'th', item_id: '32000000001', shop_id: '7003' },
  },
  {
    title: 'product pages by CSV',
    kind: 'get_pc_bulk',
    body: { result_format: 'jsonl' },
    csv: csv(60),
  },
  {
    title: 'searches and categories',
    kind: 'search_items',
    body: {
      urls: [
        'https://mkta.example.co.id/search?keyword=lampu%20004',
        'https://mkta.example.vn/Gia-dung-cat.11036.11036003',
      ],
    },
  },
  {
    title: 'shops',
    kind: 'merchant_items',
    body: {
      urls: ['https://mkta.example.com.my/shop/7004003', 'https://mkta.example.ph/shop/7005004'],
    },
  },
];

export const mkta: Market = {
  name: 'mkta',
  regions: Object.keys(regions),
  readers: { product, variants, search, merchant },
  listedFields,
  ids,
  samples,
  tracked,
  parseUrl,
  pictureUrl,
  pagePath,
};
