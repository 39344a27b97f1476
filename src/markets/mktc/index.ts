import type { Market } from '../market.ts';
import { merchant } from './merchant.ts';
import { product } from './product.ts';

/** Marketplace C. */
export const mktc: Market = {
  name: 'mktc',
  regions: ['id'],
  readers: { product, merchant },
};
