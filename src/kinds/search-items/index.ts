import type { Kind } from '../kind.ts';
import { listingFields, listingFile } from '../listing.ts';
import { pgntKind } from '../pgnt.ts';

/** Columns of its delivered tables so far: see Kind. */
const tableColumns = `
  unit_index: integer; unit_key: string; unit_region: string; unit_list: string; unit_position: integer;
  itemid: integer; shopid: integer; name: string; image: string; images: json; price: integer;
  price_min: integer; price_max: integer; stock: integer; sold: integer; historical_sold: integer;
  liked_count: integer; cmt_count: integer; item_rating.rating_star: number;
  item_rating.rating_count: json; shop_location: string; shop_name: string; is_official_shop: boolean;
  tier_variations: json`;

/** Items of search and category pages. */
export const searchItems: Kind = pgntKind({
  name: 'search_items',
  page: 'search',
  files: { unit: listingFile },
  tableColumns,
  resultFields: listingFields,
});
