import type { ListedFields } from '../market.ts';

/** Fields that every record of each page has (docs/pages.md), in the notation of fieldsOf(). */
export const listedFields: ListedFields = {
  product: `_scraped_at: string; _product_id: string; _country: string; product.id: string;
  product.title: string; product.description: string?; product.category: string?; product.brand: string?;
  product.price: number?; product.stock: integer?; product.sold: integer?; product.rating: number?;
  product.totalReview: integer?; product.seller: object?; product.url: string?; product.condition: string?;
  product.status: any; skus: array; skus[].id: string; skus[].name: string?; skus[].price: number?;
  skus[].stock: integer?`,
};
