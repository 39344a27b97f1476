import type { Kind } from '../kind.ts';
import { taskKind } from '../tasks.ts';

/** Credits per task where it is not the common price: marketplace F (interface, "Credit costs"). */
const prices: Record<string, number> = { mktf: 1 };

/** Products of searches, categories and store collections. */
export const searchBulk: Kind = taskKind({
  name: 'search_bulk',
  page: 'search',
  price: (market) => prices[market] ?? 6,
});
