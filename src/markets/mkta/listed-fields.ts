import type { ListedFields } from '../market.ts';

const product = `collected_at: integer; bff_meta: any; error: any; error_msg: any;
  data.item: object; data.item.item_id: integer; data.item.shop_id: integer; data.item.item_status: string?;
  data.item.status: integer?; data.item.item_type: integer?; data.item.reference_item_id: string?;
  data.item.title: string?; data.item.image: string?; data.item.label_ids: array; data.item.label_ids[]: integer; data.item.attributes: array; data.item.description: string?;
  data.item.models: array; data.item.models[].model_id: integer; data.item.models[].name: string;
  data.item.models[].price: integer?; data.item.models[].stock: integer?; data.item.models[].sold: integer?`;

const variants = `collected_at: integer; cbOption: integer?; cmtCount: integer?; condition: integer?;
  createTime: integer?; currency: string?; description: string?; flag: integer?; globalBrandId: integer?;
  images: array; images[]: string; itemCardV2.displayPrice: object; itemCardV2.displayPrice.currency: string?;
  itemCardV2.displayPrice.discount: number?; itemCardV2.displayPrice.discountPrice: string?;
  itemCardV2.displayPrice.discountText: object; itemCardV2.displayPrice.discountText.text: string?;
  itemCardV2.displayPrice.discountText.buyerTranslatedText: object;
  itemCardV2.displayPrice.discountText.buyerTranslatedText.source: string?;
  itemCardV2.displayPrice.discountText.buyerTranslatedText.translatedLanguage: string?;
  itemCardV2.displayPrice.discountText.buyerTranslatedText.translatedText: string?;
  itemCardV2.displayPrice.displayFinalPriceIcon: boolean?; itemCardV2.displayPrice.priceMask: string?;
  itemId: string; likedCount: integer?; localBrand: string?; localCatIds: array; localCatIds[]: integer;
  shopId: string; country: string; title: string?; historicalSold: integer?; rating: number?; models: array;
  models[].modelId: string?; models[].name: string?; models[].price: number?; models[].stock: integer?;
  models[].sold: integer?; models[].tierIndex: array`;

const entry = `itemid: integer; shopid: integer; name: string?; image: string?; images: array; price: integer?;
  price_min: integer?; price_max: integer?; stock: integer?; sold: integer?; historical_sold: integer?;
  liked_count: integer?; cmt_count: integer?; item_rating: object; item_rating.rating_star: number?;
  item_rating.rating_count: array; item_rating.rating_count[]: integer; shop_location: string?; shop_name: string?; is_official_shop: boolean?;
  tier_variations: array; tier_variations[].name: string; tier_variations[].options: array;
  tier_variations[].options[]: string`;

/** Fields that every record of each page has (docs/pages.md), in the notation of fieldsOf(). */
export const listedFields: ListedFields = {
  product,
  variants,
  search: entry,
  merchant: `${entry}; images[]: string; label_ids: array?; label_ids[]: integer`,
};
