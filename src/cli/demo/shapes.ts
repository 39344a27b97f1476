import { listedFields } from '../../drift/listed-fields.ts';
import { below } from '../../drift/shape.ts';

export { missesOf } from '../../drift/shape.ts';

const { mkta, mktb, mktc, mktd, mkte, mktf } = listedFields;

const list = 'products: array';

/**
 * The fields of result files (interface, "Resources and their fields"), one record or object at a time: what
 * the kinds add around the listed fields of the pages.
 */
export const shapes = {
  variantSold: mkta.variants,
  getPc: mkta.product,
  searchItems: `collected_at: integer; success: boolean; url: string; total_items: integer; items: array;
    ${below('items[]', mkta.search)}`,
  merchantItems: `collected_at: integer; success: boolean; shops: object; shops.*.page_url: string;
    shops.*.page_type: string; shops.*.page_params.shop_id: string; shops.*.items.items: array;
    ${below('shops.*.items.items[]', mkta.merchant)}; shops.*.items.total_fetched: integer;
    shops.*.items.total_count: integer?; shops.*.items.pages_fetched: integer; shops.*.items.has_more: boolean;
    shops.*.rcmd_items.items: array; ${below('shops.*.rcmd_items.items[]', mkta.merchant)}`,
  mktbProduct: `shop_domain: string; product_key: string; ${below('response', mktb.product)}`,
  mktcProduct: `item_id: string?; formattedId: string; sku: string; pickupPointCode: string?;
    ${below('response', mktc.product)}`,
  mktdProduct: `item_id: string; country: string; ${below('response', mktd.product)}`,
  mkteProduct: `item_id: string; country: string; ${below('response', mkte.product)}`,
  mktbSearch: `batch_id: string; keyword: string; list_type: string; ${list}; ${below('products[]', mktb.search)}`,
  mktbMerchant: `shopid: string; store_name: string?; batch_id: string; total_products: integer; ${list};
    ${below('products[]', mktb.merchant)}`,
  mktcMerchant: `shopid: string; store_name: string?; batch_id: string; ${list};
    ${below('products[]', mktc.merchant)}`,
  mkteSearch: `batch_id: string; list_type: string; keyword: string; country: string; total_products: integer;
    scraped_pages: integer; submit_date: string; submit_hour: string; ${list}; ${below('products[]', mkte.search)}`,
  mktfSearch: `url: string; store: string; collection: string?; total_products: integer; pages_fetched: integer;
    collected_at: integer; ${list}; ${below('products[]', mktf.search)}`,
};
