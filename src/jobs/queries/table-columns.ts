import { parseFields } from '../../base/record-schema.ts';
import type { Column, ColumnType } from '../../formats/columns.ts';

/**
 * Columns of delivered tables by kind, in the notation of parseFields(). Tables that readers have created keep
 * them: no release removes one or changes its type. New columns are added to the end of their kind.
 */
export const releasedColumns: Readonly<Record<string, string>> = {
  variant_sold: `
    unit_index: integer; unit_key: string; unit_region: string; collected_at: integer; cbOption: integer;
    cmtCount: integer; condition: integer; createTime: integer; currency: string; description: string;
    flag: integer; globalBrandId: integer; images: json; itemCardV2.displayPrice.currency: string;
    itemCardV2.displayPrice.discount: number; itemCardV2.displayPrice.discountPrice: string;
    itemCardV2.displayPrice.discountText.text: string;
    itemCardV2.displayPrice.discountText.buyerTranslatedText.source: string;
    itemCardV2.displayPrice.discountText.buyerTranslatedText.translatedLanguage: string;
    itemCardV2.displayPrice.discountText.buyerTranslatedText.translatedText: string;
    itemCardV2.displayPrice.displayFinalPriceIcon: boolean; itemCardV2.displayPrice.priceMask: string;
    itemId: string; likedCount: integer; localBrand: string; localCatIds: json; shopId: string;
    country: string; title: string; historicalSold: integer; rating: number; models: json`,
  get_pc: `
    unit_index: integer; unit_key: string; unit_region: string; collected_at: integer; bff_meta: json;
    error: json; error_msg: json; data.item.item_id: integer; data.item.shop_id: integer;
    data.item.item_status: string; data.item.status: integer; data.item.item_type: integer;
    data.item.reference_item_id: string; data.item.title: string; data.item.image: string;
    data.item.label_ids: json; data.item.attributes: json; data.item.description: string;
    data.item.models: json`,
  get_pc_bulk: `
    unit_index: integer; unit_key: string; unit_region: string; collected_at: integer; bff_meta: json;
    error: json; error_msg: json; data.item.item_id: integer; data.item.shop_id: integer;
    data.item.item_status: string; data.item.status: integer; data.item.item_type: integer;
    data.item.reference_item_id: string; data.item.title: string; data.item.image: string;
    data.item.label_ids: json; data.item.attributes: json; data.item.description: string;
    data.item.models: json`,
  search_items: `
    unit_index: integer; unit_key: string; unit_region: string; unit_list: string; unit_position: integer;
    itemid: integer; shopid: integer; name: string; image: string; images: json; price: integer;
    price_min: integer; price_max: integer; stock: integer; sold: integer; historical_sold: integer;
    liked_count: integer; cmt_count: integer; item_rating.rating_star: number;
    item_rating.rating_count: json; shop_location: string; shop_name: string; is_official_shop: boolean;
    tier_variations: json`,
  merchant_items: `
    unit_index: integer; unit_key: string; unit_region: string; unit_list: string; unit_position: integer;
    itemid: integer; shopid: integer; name: string; image: string; images: json; price: integer;
    price_min: integer; price_max: integer; stock: integer; sold: integer; historical_sold: integer;
    liked_count: integer; cmt_count: integer; item_rating.rating_star: number;
    item_rating.rating_count: json; shop_location: string; shop_name: string; is_official_shop: boolean;
    tier_variations: json; label_ids: json`,
  pdp_bulk: `
    unit_index: integer; unit_key: string; unit_region: string; data.variants.basicInfo.id: string;
    data.variants.basicInfo.shopID: string; data.variants.basicInfo.alias: string;
    data.variants.basicInfo.createdAt: string; data.variants.basicInfo.category.detail: json;
    data.variants.basicInfo.stats.countView: string; data.variants.basicInfo.stats.countReview: string;
    data.variants.basicInfo.stats.countTalk: string; data.variants.basicInfo.stats.rating: number;
    data.variants.basicInfo.txStats.transactionSuccess: string;
    data.variants.basicInfo.txStats.transactionReject: string;
    data.variants.basicInfo.txStats.countSold: string; data.variants.basicInfo.minOrder: integer;
    data.variants.basicInfo.maxOrder: integer; data.variants.basicInfo.weight: integer;
    data.variants.basicInfo.weightUnit: string; data.variants.basicInfo.url: string;
    data.variants.basicInfo.condition: string; data.variants.basicInfo.status: string;
    data.variants.basicInfo.isLeasing: boolean; data.variants.basicInfo.catalogID: string;
    data.variants.basicInfo.menu: json; data.variants.components: json; status: string; statusCode: integer;
    message: string; data.summary.id: string; data.summary.name: string; data.summary.brand: string;
    data.summary.category: string; data.summary.price.price: number;
    data.summary.price.originalPrice: number; data.summary.price.discountPercentage: number;
    data.summary.price.currency: string; data.summary.stock: integer; data.summary.sold: integer;
    data.summary.rating: number; data.summary.totalReview: integer; data.summary.merchant.id: string;
    data.summary.merchant.name: string; data.summary.merchant.type: string; data.summary.url: string;
    data.summary.condition: string; data.summary.status: string; data.items: json; _scraped_at: string;
    _product_id: string; _country: string; product.id: string; product.title: string;
    product.description: string; product.category: string; product.brand: string; product.price: number;
    product.stock: integer; product.sold: integer; product.rating: number; product.totalReview: integer;
    product.seller: json; product.url: string; product.condition: string; product.status: json; skus: json;
    _asin: string; title: string; brand: string; price.amount: number; price.currency: string;
    price.original_price: number; availability: string; rating: number; review_count: integer; url: string;
    images: json; features: json; description: string; specifications: json; variants: json;
    seller.name: string; seller.id: string; id: string; site: string; sku: string; gtin: string;
    mpn: string; category: string; price: number; currency: string; list_price: number; available: boolean;
    condition: string; seller: string; extra: json`,
  search_bulk: `
    unit_index: integer; unit_key: string; unit_region: string; unit_list: string; unit_position: integer;
    id: string; name: string; price: number; original_price: number; discount_percentage: number;
    rating: number; review_count: integer; sold_count: integer; url: string; image_url: string;
    condition: string; shop_id: string; shop_name: string; shop_domain: string; location: string;
    free_shipping: boolean; asin: string; title: string; price_string: string;
    original_price_string: string; currency: string; rating_string: string; review_count_string: string;
    thumbnail: string; is_prime: boolean; is_sponsored: boolean; id_integer: integer; handle: string;
    body_html: string; vendor: string; product_type: string; tags: json; variants: json; images: json;
    options: json; site: string; brand: string; sku: string; gtin: string; mpn: string; description: string;
    category: string; list_price: number; availability: string; available: boolean; seller: string;
    extra: json`,
  merchant_bulk: `
    unit_index: integer; unit_key: string; unit_region: string; unit_list: string; unit_position: integer;
    id: string; name: string; price: number; original_price: number; discount_percentage: number;
    rating: number; review_count: integer; sold_count: integer; url: string; image_url: string;
    condition: string; etalase: string; stock: integer; brand: string; category: string;
    merchant.id: string; merchant.name: string; merchant.type: string`,
};

/** Parses the released columns of a kind. Their cells are empty. */
export function parseReleased(shape = ''): Column[] {
  if (shape === '') return [];
  return parseFields(shape).map(({ path, type }) => ({ name: path, steps: [], type: type as ColumnType }));
}
