import type { Market } from '../market.ts';
import { listedFields, tracked } from './fields.ts';
import { ids, samples } from './ids.ts';
import { product } from './product.ts';
import { regions } from './regions.ts';

/** Marketplace D, the short-video shop. */
export const mktd: Market = {
  name: 'mktd',
  regions,
  readers: { product },
  listedFields,
  tracked,
  ids,
  samples,
};
