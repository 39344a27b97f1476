import type { ListedFields } from '../market.ts';

/** Fields that every record of each page has (docs/pages.md), in the notation of fieldsOf(). */
export const listedFields: ListedFields = {
  product: `_scraped_at: string; _asin: string; _country: string; title: string; brand: string?;
  price.amount: number?; price.currency: string?; price.original_price: number?; availability: string?;
  rating: number?; review_count: integer?; url: string?; images: array; images[]: string; features: array;
  features[]: string; description: string?; specifications: array; specifications[].name: string;
  specifications[].value: string?; variants: array; variants[].asin: string; variants[].title: string?;
  variants[].price: number?; seller.name: string?; seller.id: string?`,
  search: `asin: string; title: string?; price: string?; original_price: string?; currency: string?;
    rating: string?; review_count: string?; thumbnail: string?; url: string; is_prime: boolean;
    is_sponsored: boolean`,
};
