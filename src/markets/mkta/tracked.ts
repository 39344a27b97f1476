import type { JsonObject } from '../../base/json.ts';
import { integer, number, object, objects, text } from '../fields.ts';
import type { TrackedPages } from '../market.ts';
import { lowestPrice, totalStock, trackedItem, valueAt } from '../tracked.ts';
import { idOf } from './item.ts';
import { unscaled } from './prices.ts';

const variantOf = (model: JsonObject) => ({
  id: idOf(model, 'modelId', 'model_id', 'modelid'),
  name: text(model.name),
  stock: integer(model.stock),
});

function product(record: JsonObject) {
  const data = object(record.data);
  const item = object(data.item);
  const review = object(data.product_review);
  // Visitors without a session get a capped stock, without a price.
  const variants = objects(item.models).map((model) => ({
    ...variantOf(model),
    price: unscaled(model.price),
    stock: model.price === null ? null : integer(model.stock),
  }));
  return trackedItem(idOf(item, 'item_id'), {
    title: text(item.title),
    price: lowestPrice(variants.map(({ price }) => price)) ?? unscaled(item.price),
    currency: text(item.currency),
    stock: totalStock(variants.map(({ stock }) => stock)),
    sold: integer(review.historical_sold),
    rating: number(review.rating_star),
    variants,
  });
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
  });
}

const entry = (record: JsonObject) =>
  trackedItem(idOf(record, 'itemid'), {
    title: text(record.name),
    price: unscaled(record.price),
    currency: text(record.currency),
    stock: integer(record.stock),
    sold: integer(record.historical_sold),
    rating: number(valueAt(record, 'item_rating.rating_star')),
  });

/** Tracked values of each page. */
export const tracked: TrackedPages = { product, variants, search: entry, merchant: entry };
