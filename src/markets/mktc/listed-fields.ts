import type { ListedFields } from '../market.ts';

const product = `status: string?; statusCode: integer?; message: string?; data.summary.id: string;
  data.summary.name: string; data.summary.brand: string?; data.summary.category: string?;
  data.summary.price: object; data.summary.price.price: number?; data.summary.price.originalPrice: number?;
  data.summary.price.discountPercentage: number?; data.summary.price.currency: string; data.summary.stock: integer?;
  data.summary.sold: integer?; data.summary.rating: number?; data.summary.totalReview: integer?;
  data.summary.merchant: object; data.summary.merchant.id: string?; data.summary.merchant.name: string?;
  data.summary.merchant.type: string?; data.summary.url: string?; data.summary.condition: string?;
  data.summary.status: string?; data.items: array; data.items[].id: string?; data.items[].sku: string?`;

const entry = `id: string; name: string?; price: number?; original_price: number?; discount_percentage: number?;
  rating: number?; review_count: integer?; sold_count: integer?; url: string?; image_url: string?; condition: string?`;

/** Fields that every record of each page has (docs/pages.md), in the notation of fieldsOf(). */
export const listedFields: ListedFields = {
  product,
  merchant: `${entry}; brand: string?; category: string?; stock: integer?; merchant: object;
    merchant.id: string?; merchant.name: string?; merchant.type: string?`,
};
