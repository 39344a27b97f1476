import type { Market } from '../market.ts';
import { listedFields, tracked } from './fields.ts';
import { ids, samples } from './ids.ts';
import { merchant } from './merchant.ts';
import { product } from './product.ts';

/** Marketplace C. */
export const mktc: Market = {
  name: 'mktc',
  regions: ['id'],
  readers: { product, merchant },
  listedFields,
  ids,
  samples,
  tracked,
};
