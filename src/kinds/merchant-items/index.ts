import type { Kind } from '../kind.ts';
import { pgntKind } from '../pgnt.ts';
import { shopFields, shopFile } from './pack.ts';

/** Items of shops: the active items, which the shop recommends, and the sold-out items. */
export const merchantItems: Kind = pgntKind({
  name: 'merchant_items',
  page: 'merchant',
  files: { unit: shopFile },
  resultFields: shopFields,
});
