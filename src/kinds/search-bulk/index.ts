import type { Kind } from '../kind.ts';
import { taskKind } from '../tasks.ts';

/** Products of searches, categories and store collections. */
export const searchBulk: Kind = taskKind({ name: 'search_bulk', page: 'search', price: 6 });
