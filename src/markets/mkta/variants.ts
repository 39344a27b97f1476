import type { Json, JsonObject } from '../../base/json.ts';
import type { PageResponse } from '../../fetch/page.ts';
import {
  firstInteger,
  integer,
  integers,
  object,
  objects,
  positive,
  text,
  texts,
} from '../fields.ts';
import type { RecordReader } from '../market.ts';
import { discountPercent, type ItemPage, idOf, soldCount, unscaled } from './item.ts';
import { productRequest, readProduct } from './product.ts';

/**
 * Returns the stock that the page states. Visitors without a session get a capped value with a null
 * `normal_stock`; then only 0 is reliable.
 */
function stockOf(model: JsonObject, item: JsonObject): number | null {
  if (item.is_hide_stock === true) return null;
  const stock = firstInteger(model.stock, model.normal_stock);
  const capped = (model.normal_stock ?? model.price ?? null) === null;
  return stock === null || stock < 0 || (capped && stock > 0) ? null : stock;
}

function modelOf(model: JsonObject, item: JsonObject): JsonObject {
  const tierIndex: Json[] =
    [object(model.extinfo).tier_index, model.tier_index].find(Array.isArray) ?? [];
  return {
    modelId: idOf(model, 'model_id', 'modelid'),
    name: typeof model.name === 'string' ? model.name : null,
    price: unscaled(model.price),
    stock: stockOf(model, item),
    sold: soldCount(model.sold),
    tierIndex,
  };
}

function displayPrice({ item, price }: ItemPage): JsonObject {
  const priceRange = object(price.price);
  const mask = text(priceRange.price_mask) ?? text(item.hidden_price_display);
  const lowest =
    [priceRange.single_value, priceRange.range_min, item.price, item.price_min]
      .map(unscaled)
      .find(Boolean) ?? null;
  const visiblePrice = mask === null && price.hide_price !== true ? lowest : null;
  const translated = object(price.discount_text);
  const buyer = object(translated.buyer_translated_text);
  return {
    currency: text(item.currency),
    discount:
      discountPercent(price.discount) ??
      (visiblePrice === null ? null : discountPercent(item.raw_discount)),
    discountPrice: visiblePrice === null ? null : String(visiblePrice),
    discountText: {
      text: text(price.discount_text) ?? text(translated.text),
      buyerTranslatedText: {
        source: text(buyer.source),
        translatedLanguage: text(buyer.translated_language),
        translatedText: text(buyer.translated_text),
      },
    },
    displayFinalPriceIcon:
      typeof price.show_final_price_indicator === 'boolean'
        ? price.show_final_price_indicator
        : null,
    priceMask: mask,
  };
}

function imagesOf({ item, images }: ItemPage): string[] {
  const lists = [texts(images.images), texts(item.images), texts([item.image])];
  return lists.find(({ length }) => length > 0) ?? [];
}

function categoriesOf(item: JsonObject): number[] {
  const ids = [objects(item.categories).map(({ catid }) => catid), [item.cat_id], [item.catid]];
  return ids.map(integers).find(({ length }) => length > 0) ?? [];
}

function descriptionOf({ item, description }: ItemPage): string | null {
  const paragraphs = texts(objects(description.paragraphs).map((paragraph) => paragraph.text));
  return text(item.description) ?? (paragraphs.length > 0 ? paragraphs.join('\n') : null);
}

function historicalSold({ item, review, meta }: ItemPage): number | null {
  const soldValue = review.historical_sold ?? item.historical_sold;
  const sold = soldCount(soldValue, review.historical_sold_text, item.historical_sold_text);
  return meta.hide_sold_count === true && sold === 0 ? null : sold;
}

function extract(response: PageResponse, input: JsonObject, region: string): JsonObject {
  const { page } = readProduct(response, input);
  const { item, review } = page;
  return {
    collected_at: Math.floor(response.at / 1000),
    cbOption: integer(item.cb_option),
    cmtCount: firstInteger(review.cmt_count, item.cmt_count),
    condition: integer(item.condition),
    createTime: integer(item.ctime),
    currency: text(item.currency),
    description: descriptionOf(page),
    flag: integer(item.flag),
    globalBrandId: firstInteger(item.brand_id, item.global_brand_id),
    images: imagesOf(page),
    itemCardV2: { displayPrice: displayPrice(page) },
    itemId: String(input.item_id),
    likedCount: firstInteger(review.liked_count, item.liked_count),
    localBrand: text(item.brand),
    localCatIds: categoriesOf(item),
    shopId: idOf(item, 'shop_id', 'shopid') ?? String(input.shop_id),
    country: region,
    title: text(item.title) ?? text(item.name),
    historicalSold: historicalSold(page),
    rating: positive(review.rating_star) ?? positive(object(item.item_rating).rating_star),
    models: objects(item.models).map((model) => modelOf(model, item)),
  };
}

/**
 * Reads an item's variant-sold record from its product page (docs/kinds/variant-sold.md). Money
 * is in currency units; hidden values are null.
 */
export const variants: RecordReader = {
  sort: 'record',
  read: async (input, { region, fetch }) =>
    extract(await fetch(productRequest(input, region)), input, region),
  extract,
};
