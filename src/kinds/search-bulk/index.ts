import type { Kind } from '../kind.ts';
import { taskKind } from '../tasks.ts';

/** Columns of its delivered tables so far: see Kind. */
const tableColumns = `
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
  extra: json`;

/** Products of searches, categories and store collections. */
export const searchBulk: Kind = taskKind({ name: 'search_bulk', page: 'search', price: 6, tableColumns });
