import type { Market } from '../market.ts';
import { product } from './product.ts';
import { regions } from './regions.ts';
import { variants } from './variants.ts';

/** Marketplace A. */
export const mkta: Market = {
  name: 'mkta',
  regions: Object.keys(regions),
  readers: { product, variants },
};
