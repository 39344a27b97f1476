import type { Kind } from '../kind.ts';
import { taskKind } from '../tasks.ts';

/** Products of shops. */
export const merchantBulk: Kind = taskKind({ name: 'merchant_bulk', page: 'merchant', price: 6 });
