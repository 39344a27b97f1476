import { PdpItemSchema } from '../../../gen/gleaner/mktd/v1/mktd_pb.ts';
import type { JsonObject } from '../../base/json.ts';
import { integer, number, object, objects, text } from '../fields.ts';
import { itemForm } from '../id-form.ts';
import type { IdForms, ListedFields, Market, TrackedPages } from '../market.ts';
import { type MarketSamples, sampleIds } from '../sample.ts';
import { trackedItem, valueAt } from '../tracked.ts';
import { product, regions } from './product.ts';

/** Fields that every record of each page has (docs/pages.md). */
const listedFields: ListedFields = {
  product: {
    _scraped_at: 'timestamp',
    _product_id: 'string',
    _country: 'string',
    'product.id': 'string',
    'product.title': 'string',
    'product.description': 'string?',
    'product.category': 'string?',
    'product.brand': 'string?',
    'product.price': 'number?',
    'product.stock': 'integer?',
    'product.sold': 'integer?',
    'product.rating': 'number?',
    'product.totalReview': 'integer?',
    'product.seller': 'object?',
    'product.url': 'string?',
    'product.condition': 'string?',
    'product.status': 'any',
    skus: 'array',
    'skus[].id': 'string?',
    'skus[].name': 'string?',
    'skus[].price': 'number?',
    'skus[].stock': 'integer?',
  },
};

function trackedProduct(record: JsonObject) {
  const item = object(record.product);
  const variants = objects(record.skus).map((sku) => ({
    id: text(sku.id),
    name: text(sku.name),
    price: number(sku.price),
    stock: integer(sku.stock),
  }));
  const values = trackedItem(item.id, {
    title: text(item.title),
    price: number(item.price),
    currency: text(item.currency),
    stock: integer(item.stock),
    sold: integer(item.sold),
    rating: number(item.rating),
    variants,
    brand: text(item.brand),
    listPrice: number(item.original_price),
    reviews: integer(item.totalReview),
    seller: text(valueAt(item, 'seller.name')),
  });
  // The page says that the product is not offered, and how many pieces there are.
  const unavailable = text(valueAt(record, 'product_info.unavailable_info.text'));
  return unavailable === null ? values : { ...values, available: null };
}

const tracked: TrackedPages = { product: trackedProduct };

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
