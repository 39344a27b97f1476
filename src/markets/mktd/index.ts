import type { Market } from '../market.ts';
import { ids } from './ids.ts';
import { listedFields } from './listed-fields.ts';
import { product } from './product.ts';
import { regions } from './regions.ts';
import { samples } from './samples.ts';
import { tracked } from './tracked.ts';

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
