import type { JsonObject } from '../../base/json.ts';
import { textForm } from '../id-form.ts';
import type { IdForms, Market } from '../market.ts';
import { type MarketSamples, sampleIds } from '../sample.ts';
import { listedFields, tracked } from './fields.ts';
import { merchant } from './merchant.ts';
import { product } from './product.ts';

const ids: IdForms = {
  product: { form: '<formatted id>[/<sku>[/<pickup point>]], or its address', parse: parseItem },
  merchant: textForm('shopid', 'the code of a merchant'),
};

function parseItem(text: string): JsonObject | null {
  const url = URL.parse(text);
  const id = url ? /\/((?:is|ps|pc)--[^/]+)$/.exec(url.pathname)?.[1] : text.split('/')[0];
  if (!id) return null;
  const [sku, pickupPointCode] = url
    ? [url.searchParams.get('ds'), url.searchParams.get('pickupPointCode')]
    : text.split('/').slice(1);
  return {
    formattedId: id,
    // The rest of an `is--` id is the SKU.
    sku: sku ?? /^is--(.+)$/.exec(id)?.[1] ?? '',
    ...(pickupPointCode ? { pickupPointCode } : {}),
  };
}

/** Samples for every kind that the market offers. */
const samples: MarketSamples = () => [
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

export const mktc: Market = {
  name: 'mktc',
  regions: ['id'],
  readers: { product, merchant },
  listedFields,
  ids,
  samples,
  tracked,
};
