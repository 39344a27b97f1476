import type { ListedFields } from '../market.ts';

/** Fields that every record of each page has (docs/pages.md), in the notation of fieldsOf(). */
export const listedFields: ListedFields = {
  search: `id: integer; title: string; handle: string; body_html: string?; vendor: string?;
  product_type: string?; tags: array; variants: array; variants[].id: integer; variants[].title: string;
  variants[].price: string; variants[].available: boolean; images: array; options: array`,
};
