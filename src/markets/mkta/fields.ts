import type { JsonObject } from '../../base/json.ts';
import type { RecordFields } from '../../quality/record-schema.ts';
import { integer, number, object, objects, text } from '../fields.ts';
import type { ListedFields, PictureSize, TrackedPages } from '../market.ts';
import { cheapest, lowestPrice, totalStock, trackedItem, valueAt, withDoubt } from '../tracked.ts';
import { flag, idOf, unscaled } from './item.ts';
import { historicalSold, stockOf } from './product.ts';
import { regions } from './urls.ts';

const productFields: RecordFields = {
  collected_at: 'integer',
  bff_meta: 'any',
  error: 'any',
  error_msg: 'any',
  'data.item': 'object',
  'data.item.item_id': 'integer',
  'data.item.shop_id': 'integer',
  'data.item.item_status': 'string?',
  'data.item.status': 'integer?',
  'data.item.item_type': 'integer?',
  'data.item.reference_item_id': 'string?',
  'data.item.title': 'string?',
  'data.item.image': 'string?',
  'data.item.label_ids': 'array',
  'data.item.label_ids[]': 'integer',
  'data.item.attributes': 'array',
  'data.item.description': 'string?',
  'data.item.models': 'array',
  'data.item.models[].model_id': 'integer',
  'data.item.models[].name': 'string',
  'data.item.models[].price': 'integer?',
  'data.item.models[].stock': 'integer?',
  'data.item.models[].sold': 'integer?',
};

const variantsFields: RecordFields = {
  collected_at: 'integer',
  cbOption: 'integer?',
  cmtCount: 'integer?',
  condition: 'integer?',
  createTime: 'integer?',
  currency: 'string?',
  description: 'string?',
  flag: 'integer?',
  globalBrandId: 'integer?',
  images: 'array',
  'images[]': 'string',
  'itemCardV2.displayPrice': 'object',
  'itemCardV2.displayPrice.currency': 'string?',
  'itemCardV2.displayPrice.discount': 'number?',
  'itemCardV2.displayPrice.discountPrice': 'string?',
  'itemCardV2.displayPrice.discountText': 'object',
  'itemCardV2.displayPrice.discountText.text': 'string?',
  'itemCardV2.displayPrice.discountText.buyerTranslatedText': 'object',
  'itemCardV2.displayPrice.discountText.buyerTranslatedText.source': 'string?',
  'itemCardV2.displayPrice.discountText.buyerTranslatedText.translatedLanguage': 'string?',
  'itemCardV2.displayPrice.discountText.buyerTranslatedText.translatedText': 'string?',
  'itemCardV2.displayPrice.displayFinalPriceIcon': 'boolean?',
  'itemCardV2.displayPrice.priceMask': 'string?',
  itemId: 'string',
  likedCount: 'integer?',
  localBrand: 'string?',
  localCatIds: 'array',
  'localCatIds[]': 'integer',
  shopId: 'string',
  country: 'string',
  title: 'string?',
  historicalSold: 'integer?',
  rating: 'number?',
  models: 'array',
  'models[].modelId': 'string?',
  'models[].name': 'string?',
  'models[].price': 'number?',
  'models[].stock': 'integer?',
  'models[].sold': 'integer?',
  'models[].tierIndex': 'array',
};

const entryFields: RecordFields = {
  itemid: 'integer',
  shopid: 'integer?',
  name: 'string?',
  image: 'string?',
  images: 'array',
  price: 'integer?',
  price_min: 'integer?',
  price_max: 'integer?',
  stock: 'integer?',
  sold: 'integer?',
  historical_sold: 'integer?',
  liked_count: 'integer?',
  cmt_count: 'integer?',
  item_rating: 'object',
  'item_rating.rating_star': 'number?',
  'item_rating.rating_count': 'array',
  'item_rating.rating_count[]': 'integer',
  shop_location: 'string?',
  shop_name: 'string?',
  is_official_shop: 'boolean?',
  tier_variations: 'array',
  'tier_variations[].name': 'string',
  'tier_variations[].options': 'array',
  'tier_variations[].options[]': 'string',
};

/** Fields that every record of each page has (docs/pages.md). */
export const listedFields: ListedFields = {
  product: productFields,
  variants: variantsFields,
  search: entryFields,
  merchant: {
    ...entryFields,
    'images[]': 'string',
    label_ids: 'array?',
    'label_ids[]': 'integer',
  },
};

const variantOf = (model: JsonObject) => ({
  id: idOf(model, 'modelId', 'model_id', 'modelid'),
  name: text(model.name),
  stock: integer(model.stock),
});

function product(record: JsonObject) {
  const data = object(record.data);
  const item = object(data.item);
  const review = object(data.product_review);
  const priceRange = object(valueAt(data, 'product_price.price'));
  const variants = objects(item.models).map((model) => ({
    ...variantOf(model),
    price: unscaled(model.price),
    stock: stockOf(model, item),
  }));
  const models = objects(item.models).map((model) => ({
    price: unscaled(model.price),
    before: unscaled(model.price_before_discount),
  }));
  const before = object(valueAt(data, 'product_price.price_before_discount'));
  const isHidden =
    text(priceRange.price_mask) !== null || valueAt(data, 'product_price.hide_price') === true;
  const price =
    lowestPrice(variants.map((variant) => variant.price)) ??
    unscaled(item.price) ??
    unscaled(priceRange.single_value) ??
    unscaled(priceRange.range_min);
  const read = trackedItem(idOf(item, 'item_id'), {
    title: text(item.title),
    price: isHidden ? null : price,
    currency: text(item.currency),
    stock: totalStock(variants.map(({ stock }) => stock)),
    // A stock above 0 can be a cap.
    ...(item.item_status === 'sold_out' ? { available: false } : {}),
    sold: historicalSold({ item, review, meta: object(data.product_meta) }),
    rating: number(review.rating_star),
    variants,
    brand: text(item.brand),
    listPrice:
      cheapest(models)?.before ?? unscaled(before.single_value) ?? unscaled(before.range_min),
    reviews: integer(review.cmt_count) ?? integer(review.total_rating_count),
    seller: text(valueAt(data, 'shop_detailed.name')),
  });
  return withDoubt(read, item.is_unavailable === true);
}

function variants(record: JsonObject) {
  const models = objects(record.models).map((model) => ({
    ...variantOf(model),
    price: number(model.price),
  }));
  return trackedItem(record.itemId, {
    title: text(record.title),
    price:
      lowestPrice(models.map(({ price }) => price)) ??
      number(valueAt(record, 'itemCardV2.displayPrice.discountPrice')),
    currency: text(record.currency),
    stock: totalStock(models.map(({ stock }) => stock)),
    sold: integer(record.historicalSold),
    rating: number(record.rating),
    variants: models,
    brand: text(record.localBrand),
    reviews: integer(record.cmtCount),
  });
}

/**
 * Returns the price of an entry of a listing, scaled. The price of a newest card contains vouchers
 * that have a minimum spend; `applied_product_promo_price` does not.
 */
function entryPrice(entry: JsonObject): number | null {
  const display = object(entry.item_card_display_price);
  const assetDisplay = object(valueAt(entry, 'item_card_displayed_asset.display_price'));
  const withoutVoucher = [display, entry, assetDisplay].map((price) =>
    unscaled(price.applied_product_promo_price),
  );
  return withoutVoucher.find((price) => price !== null) ?? unscaled(entry.price);
}

function entryListPrice(entry: JsonObject): number | null {
  const display = object(entry.item_card_display_price);
  return (
    unscaled(entry.price_before_discount) ??
    unscaled(entry.price_min_before_discount) ??
    unscaled(display.strikethrough_price) ??
    unscaled(display.original_price)
  );
}

const statusStates: Readonly<Record<string, boolean>> = { normal: true, sold_out: false };

/**
 * Returns true for an entry in stock, false for a sold-out one, null if the entry does not tell.
 * Sold out wins: a stock above 0 can be a cap.
 */
function entryAvailable(entry: JsonObject): boolean | null {
  const isSoldOut = flag(entry.is_sold_out);
  const stock = integer(entry.stock);
  const status = text(entry.item_status) ?? '';
  const states = [
    isSoldOut === null ? null : !isSoldOut,
    Object.hasOwn(statusStates, status) ? statusStates[status]! : null,
    stock === null ? null : stock > 0,
  ];
  if (states.includes(false)) return false;
  return states.includes(true) ? true : null;
}

const entry = (record: JsonObject) =>
  trackedItem(idOf(record, 'itemid'), {
    title: text(record.name),
    price: entryPrice(record),
    currency: text(record.currency),
    stock: integer(record.stock),
    available: entryAvailable(record),
    sold: integer(record.historical_sold),
    rating: number(valueAt(record, 'item_rating.rating_star')),
    brand: text(record.brand) ?? text(valueAt(record, 'global_brand.display_name')),
    listPrice: entryListPrice(record),
    reviews: integer(record.cmt_count) ?? integer(valueAt(record, 'item_rating.rating_count.0')),
    seller: text(record.shop_name),
  });

export const tracked: TrackedPages = {
  product,
  variants,
  search: entry,
  merchant: entry,
};

/**
 * Form of the ids of pictures: 32 hexadecimal digits; newer ones begin with the region of the
 * upload.
 */
const pictureId = /^(?:[0-9a-f]{32}|[a-z]{2,5}-\d{8}-[0-9a-z]{4,8}-[0-9a-z]{8,20})$/;

/** Returns the address of a picture, or null for text that is not the id of a picture. */
export function pictureUrl(id: string, region: string, size: PictureSize): string | null {
  if (!Object.hasOwn(regions, region) || !pictureId.test(id)) return null;
  return `https://down-${region}.img.susercontent.com/file/${id}${size === 'small' ? '_tn' : ''}`;
}
