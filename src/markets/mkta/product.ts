import type { Json, JsonObject } from '../../base/json.ts';
import { pathPart } from '../../contract/path-part.ts';
import type { PageRequest, PageResponse } from '../../fetch/page.ts';
import {
  firstInteger,
  integer,
  integers,
  list,
  object,
  objects,
  positive,
  text,
  texts,
} from '../fields.ts';
import type { ReadContext, RecordReader } from '../market.ts';
import { pageTime } from '../responses/response.ts';
import { parseResponse } from './faults.ts';
import {
  checkItem,
  checkNamed,
  discountPercent,
  type ItemPage,
  idOf,
  itemPage,
  soldCount,
  unscaled,
} from './item.ts';
import { productPage, regions, requestHeaders } from './urls.ts';
import { withoutVisitors } from './visitors.ts';

/** Builds the request for an item's product page. `input` has `item_id` and `shop_id`. */
export function productRequest(input: JsonObject, region: string): PageRequest {
  const [item, shop] = [input.item_id, input.shop_id].map((id) => pathPart(String(id)));
  const offset = regions[region]?.offsetMinutes ?? 480;
  const query = `item_id=${item}&shop_id=${shop}&tz_offset_minutes=${offset}&detail_level=0`;
  return {
    path: `/api/v4/pdp/get_pc?${query}`,
    headers: requestHeaders(region),
    page: productPage(input),
  };
}

/**
 * Parses a product page and checks that it is about the requested item. The response still contains
 * visitors' data. Throws the faults of parseResponse(), itemPage(), checkItem() and checkNamed().
 */
function readProduct(
  response: PageResponse,
  input: JsonObject,
): { body: JsonObject; page: ItemPage } {
  const body = parseResponse(response);
  const page = itemPage(body);
  checkItem(page.item, input, response.at);
  checkNamed(page);
  return { body, page };
}

function extractProduct(response: PageResponse, input: JsonObject): JsonObject {
  const { body, page } = readProduct(response, input);
  const { bff_meta = null, error = null, error_msg = null, ...rest } = withoutVisitors(body);
  const data = object(rest.data);
  // In older generations, an item outside of `data.item` keeps its other members in place.
  const pageItem = data.item === page.item ? page.item : {};
  const item = { ...pageItem, ...listed(page.item, input) };
  return {
    collected_at: Math.floor(pageTime(response) / 1000),
    bff_meta,
    error,
    error_msg,
    ...rest,
    data: { ...data, item },
  };
}

/** Returns text as the site writes it, including blank text. Null for anything else. */
function string(value: Json | undefined): string | null {
  return text(value) ?? (typeof value === 'string' ? value : null);
}

/**
 * Returns the listed fields of an item with the site's values. Missing values are null or empty.
 */
function listed(item: JsonObject, input: JsonObject): JsonObject {
  return {
    item_id: firstInteger(item.item_id, item.itemid),
    shop_id: firstInteger(item.shop_id, item.shopid, input.shop_id),
    item_status: string(item.item_status),
    status: integer(item.status),
    item_type: integer(item.item_type),
    reference_item_id: string(item.reference_item_id),
    title: string(item.title) ?? string(item.name),
    image: string(item.image),
    label_ids: integers(item.label_ids),
    attributes: list(item.attributes),
    models: list(item.models),
    description: string(item.description),
  };
}

/**
 * Reads the get_pc result: the site's response with prices scaled by 100,000, without visitors'
 * data, with `collected_at` in Unix seconds and every listed field in its place
 * (docs/kinds/product-page.md).
 */
export const product: RecordReader = {
  sort: 'record',
  read: async (input: JsonObject, { region, fetch }: ReadContext) =>
    extractProduct(await fetch(productRequest(input, region)), input),
  extract: (response: PageResponse, input: JsonObject) => extractProduct(response, input),
  isComplete,
};

const isPrice = (value: unknown): boolean => typeof value === 'number' && value > 0;

/**
 * Returns true if a product page is complete: it has a title, a price or the mask that hides prices
 * from everyone, and no sign that the site left something out, as it does for visitors without a
 * login.
 */
function isComplete({ data }: JsonObject): boolean {
  const { product_price, removed_fields, item: inside } = object(data);
  if (list(removed_fields).length > 0) return false;
  const item = { ...object(data), ...object(inside) };
  const title = text(item.title) ?? text(item.name);
  if (title === null) return false;
  const priceRange = object(object(product_price).price);
  if (text(priceRange.price_mask) !== null) return true;
  const prices = [item.price, item.price_min, priceRange.single_value, priceRange.range_min];
  const modelPrices = objects(item.models).map(({ price }) => price);
  return prices.some(isPrice) || modelPrices.some(isPrice);
}

/**
 * Returns the stock that the page states. Visitors without a session get a capped value with a null
 * `normal_stock`; then only 0 is reliable.
 */
export function stockOf(model: JsonObject, item: JsonObject): number | null {
  if (item.is_hide_stock === true) return null;
  const stock = firstInteger(model.stock, model.normal_stock);
  if (stock === null || stock < 0) return null;
  const isCapped = (model.normal_stock ?? model.price ?? null) === null;
  return isCapped && stock > 0 ? null : stock;
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
  const prices = [priceRange.single_value, priceRange.range_min, item.price, item.price_min];
  const lowest = prices.map(unscaled).find(Boolean) ?? null;
  const visiblePrice = mask === null && price.hide_price !== true ? lowest : null;
  const itemDiscount = visiblePrice === null ? null : discountPercent(item.raw_discount);
  const { show_final_price_indicator: isFinal } = price;
  const translated = object(price.discount_text);
  const buyer = object(translated.buyer_translated_text);
  return {
    currency: text(item.currency),
    discount: discountPercent(price.discount) ?? itemDiscount,
    discountPrice: visiblePrice === null ? null : String(visiblePrice),
    discountText: {
      text: text(price.discount_text) ?? text(translated.text),
      buyerTranslatedText: {
        source: text(buyer.source),
        translatedLanguage: text(buyer.translated_language),
        translatedText: text(buyer.translated_text),
      },
    },
    displayFinalPriceIcon: typeof isFinal === 'boolean' ? isFinal : null,
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

/** Returns the number of pieces sold. Null if the site hides it. */
export function historicalSold({
  item,
  review,
  meta,
}: Pick<ItemPage, 'item' | 'review' | 'meta'>): number | null {
  const soldValue = review.historical_sold ?? item.historical_sold;
  const sold = soldCount(soldValue, review.historical_sold_text, item.historical_sold_text);
  return meta.hide_sold_count === true && sold === 0 ? null : sold;
}

function extractVariants(response: PageResponse, input: JsonObject, region: string): JsonObject {
  const { page } = readProduct(response, input);
  const { item, review } = page;
  return {
    collected_at: Math.floor(pageTime(response) / 1000),
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
    extractVariants(await fetch(productRequest(input, region)), input, region),
  extract: extractVariants,
};
