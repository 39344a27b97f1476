import type { Market } from '../market.ts';
import { product } from './product.ts';
import { regions } from './regions.ts';
import { search } from './search.ts';

/** Marketplace E. */
export const mkte: Market = { name: 'mkte', regions: Object.keys(regions), readers: { product, search } };
