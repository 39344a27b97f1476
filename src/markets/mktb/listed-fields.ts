import type { ListedFields } from '../market.ts';

const product = `data.variants.basicInfo.id: string; data.variants.basicInfo.shopID: string?;
  data.variants.basicInfo.alias: string; data.variants.basicInfo.createdAt: string?;
  data.variants.basicInfo.category.detail: array; data.variants.basicInfo.category.detail[].id: string;
  data.variants.basicInfo.category.detail[].name: string;
  data.variants.basicInfo.category.detail[].breadcrumbURL: string?;
  data.variants.basicInfo.stats.countView: string?; data.variants.basicInfo.stats.countReview: string?;
  data.variants.basicInfo.stats.countTalk: string?; data.variants.basicInfo.stats.rating: number?;
  data.variants.basicInfo.txStats.transactionSuccess: string?;
  data.variants.basicInfo.txStats.transactionReject: string?; data.variants.basicInfo.txStats.countSold: string?;
  data.variants.basicInfo.minOrder: integer?; data.variants.basicInfo.maxOrder: integer?;
  data.variants.basicInfo.weight: integer?; data.variants.basicInfo.weightUnit: string?;
  data.variants.basicInfo.url: string?; data.variants.basicInfo.condition: string?;
  data.variants.basicInfo.status: string?; data.variants.basicInfo.isLeasing: boolean?;
  data.variants.basicInfo.catalogID: string?; data.variants.basicInfo.menu: array;
  data.variants.basicInfo.menu[].name: string; data.variants.components: array`;

const entry = `id: string; name: string?; price: number?; original_price: number?; discount_percentage: number?;
  rating: number?; review_count: integer?; sold_count: integer?; url: string?; image_url: string?; condition: string?`;

/** Fields that every record of each page has (docs/pages.md), in the notation of fieldsOf(). */
export const listedFields: ListedFields = {
  product,
  search: `${entry}; shop_id: string?; shop_name: string?; shop_domain: string?; location: string?;
    free_shipping: boolean?`,
  merchant: `${entry}; etalase: string?; stock: integer?`,
};
