import type { JsonObject } from '../../base/json.ts';
import type { PageAnswer, PageRequest } from '../../fetch/page.ts';
import { integer, list, object } from '../fields.ts';
import type { ReadContext, RecordReader } from '../market.ts';
import { judged } from './faults.ts';
import { checkItem, type ItemPage, itemPage } from './item.ts';
import { productPage } from './pages.ts';
import { regions, requestHeaders } from './regions.ts';
import { withoutVisitors } from './visitors.ts';
import { isWhole } from './whole.ts';

/** The request for an item's product page; `input` holds `item_id` and `shop_id`. */
export function productRequest(input: JsonObject, region: string): PageRequest {
  const query = new URLSearchParams({
    item_id: String(input.item_id),
    shop_id: String(input.shop_id),
    tz_offset_minutes: String(regions[region]?.offsetMinutes ?? 480),
    detail_level: '0',
  });
  return { path: `/api/v4/pdp/get_pc?${query}`, headers: requestHeaders(region), page: productPage(input) };
}

/** A product page's answer once it is known to be about the item asked for, and its parts. It still
 *  holds visitors' data. Faults as `judged`, `itemPage` and `checkItem`. */
export function readProduct(answer: PageAnswer, input: JsonObject): { body: JsonObject; page: ItemPage } {
  const body = judged(answer);
  const page = itemPage(body);
  checkItem(page.item, input, answer.at);
  return { body, page };
}

function extract(answer: PageAnswer, input: JsonObject): JsonObject {
  const { body, page } = readProduct(answer, input);
  const { bff_meta = null, error = null, error_msg = null, ...rest } = withoutVisitors(body);
  const data = object(rest.data);
  // An item that is not in its place, in older generations, keeps its other members where they are.
  const others = data.item === page.item ? page.item : {};
  const item = { ...others, ...listed(page.item) };
  return {
    collected_at: Math.floor(answer.at / 1000),
    bff_meta,
    error,
    error_msg,
    ...rest,
    data: { ...data, item },
  };
}

/** The fields that the interface lists of an item, as the site has them; null, or empty, without a source. */
function listed(item: JsonObject): JsonObject {
  return {
    item_id: integer(item.item_id ?? item.itemid),
    shop_id: integer(item.shop_id ?? item.shopid),
    item_status: item.item_status ?? null,
    status: item.status ?? null,
    item_type: item.item_type ?? null,
    reference_item_id: item.reference_item_id ?? null,
    title: item.title ?? item.name ?? null,
    image: item.image ?? null,
    label_ids: list(item.label_ids),
    attributes: list(item.attributes),
    models: list(item.models),
    description: item.description ?? null,
  };
}

/** Reads the get_pc result: the site's answer as it is, prices scaled by 100000, without visitors'
 *  data, plus `collected_at` in Unix seconds and every field that the interface lists in its place
 *  (interface, "Product page task"). */
export const product: RecordReader = {
  sort: 'record',
  read: async (input: JsonObject, { region, fetch }: ReadContext) =>
    extract(await fetch(productRequest(input, region)), input),
  extract: (answer: PageAnswer, input: JsonObject) => extract(answer, input),
  isWhole,
};
