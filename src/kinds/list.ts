import type { Kind } from './kind.ts';
import { variantSold } from './variant_sold/index.ts';

/** Every kind of work. A new one is a folder and a line here. */
export const kinds: readonly Kind[] = [variantSold];
