import { getPc } from './get_pc/index.ts';
import { getPcBulk } from './get_pc_bulk/index.ts';
import type { Kind } from './kind.ts';
import { merchantBulk } from './merchant_bulk/index.ts';
import { merchantItems } from './merchant_items/index.ts';
import { pdpBulk } from './pdp_bulk/index.ts';
import { searchBulk } from './search_bulk/index.ts';
import { searchItems } from './search_items/index.ts';
import { variantSold } from './variant_sold/index.ts';

/** Every kind of work. A new one is a folder and a line here. */
export const kinds: readonly Kind[] = [
  variantSold,
  getPc,
  getPcBulk,
  searchItems,
  merchantItems,
  pdpBulk,
  searchBulk,
  merchantBulk,
];
