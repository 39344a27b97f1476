import type { Json, JsonObject } from '../../base/json.ts';
import { pathPart } from '../../contract/path-part.ts';
import type { PageRequest, PageResponse } from '../../fetch/page.ts';
import { firstInteger, integer, integers, list, object, objects, text } from '../fields.ts';
import type { ReadContext, RecordReader } from '../market.ts';
import { parseResponse } from './faults.ts';
import { checkItem, checkNamed, type ItemPage, itemPage } from './item.ts';
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
export function readProduct(
  response: PageResponse,
  input: JsonObject,
): { body: JsonObject; page: ItemPage } {
  const body = parseResponse(response);
  const page = itemPage(body);
  checkItem(page.item, input, response.at);
  checkNamed(page);
  return { body, page };
}

function extract(response: PageResponse, input: JsonObject): JsonObject {
  const { body, page } = readProduct(response, input);
  const { bff_meta = null, error = null, error_msg = null, ...rest } = withoutVisitors(body);
  const data = object(rest.data);
  // In older generations, an item outside of `data.item` keeps its other members in place.
  const pageItem = data.item === page.item ? page.item : {};
  const item = { ...pageItem, ...listed(page.item, input) };
  return {
    collected_at: Math.floor(response.at / 1000),
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
    extract(await fetch(productRequest(input, region)), input),
  extract: (response: PageResponse, input: JsonObject) => extract(response, input),
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
  const item = { ...object(data), ...object(inside) };
  if (list(removed_fields).length > 0 || (text(item.title) ?? text(item.name)) === null)
    return false;
  const priceRange = object(object(product_price).price);
  const prices = [item.price, item.price_min, priceRange.single_value, priceRange.range_min];
  const models = objects(item.models).map(({ price }) => price);
  return text(priceRange.price_mask) !== null || [...prices, ...models].some(isPrice);
}
