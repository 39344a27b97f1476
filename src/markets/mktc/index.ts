import { PdpItemSchema } from '../../../gen/gleaner/mktc/v1/mktc_pb.ts';
import type { JsonObject } from '../../base/json.ts';
import { parseItemText } from '../../contract/item-text.ts';
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
  const item = URL.canParse(text) ? parseItemText(PdpItemSchema, text) : partsOf(text);
  if (!item?.formattedId) return null;
  const { formattedId, sku, pickupPointCode } = item;
  return {
    formattedId,
    // The rest of an `is--` id is the SKU.
    sku: sku ?? /^is--(.+)$/.exec(formattedId)?.[1] ?? '',
    ...(pickupPointCode ? { pickupPointCode } : {}),
  };
}

/** Splits an id in the form "<formatted id>/<sku>/<pickup point>". */
function partsOf(text: string): Partial<Record<string, string>> {
  const [formattedId, sku, pickupPointCode] = text.split('/') as (string | undefined)[];
  return { formattedId, sku, pickupPointCode };
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
