import type { Kind } from '../kind.ts';
import { taskKind } from '../tasks.ts';

/** Columns of its delivered tables so far: see Kind. */
const tableColumns = `
  unit_index: integer; unit_key: string; unit_region: string; unit_list: string; unit_position: integer;
  id: string; name: string; price: number; original_price: number; discount_percentage: number;
  rating: number; review_count: integer; sold_count: integer; url: string; image_url: string;
  condition: string; etalase: string; stock: integer; brand: string; category: string;
  merchant.id: string; merchant.name: string; merchant.type: string`;

/** Products of shops. */
export const merchantBulk: Kind = taskKind({
  name: 'merchant_bulk',
  page: 'merchant',
  price: 6,
  tableColumns,
});
