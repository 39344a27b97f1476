import type { Market } from '../market.ts';
import { merchant } from './merchant.ts';
import { product } from './product.ts';
import { search } from './search.ts';

/** Marketplace B. */
export const mktb: Market = {
  name: 'mktb',
  regions: ['id'],
  readers: { product, search, merchant },
};
