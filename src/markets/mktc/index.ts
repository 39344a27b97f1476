import type { Market } from '../market.ts';
import { ids } from './ids.ts';
import { listedFields } from './listed-fields.ts';
import { merchant } from './merchant.ts';
import { product } from './product.ts';
import { samples } from './samples.ts';
import { tracked } from './tracked.ts';

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
