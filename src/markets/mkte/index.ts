import type { Market } from '../market.ts';
import { ids } from './ids.ts';
import { listedFields } from './listed-fields.ts';
import { product } from './product.ts';
import { regions } from './regions.ts';
import { samples } from './samples.ts';
import { search } from './search.ts';
import { tracked } from './tracked.ts';

/** Marketplace E. */
export const mkte: Market = {
  name: 'mkte',
  regions: Object.keys(regions),
  readers: { product, search },
  listedFields,
  ids,
  samples,
  tracked,
  policy: { concurrency: 6, requestsPerSecond: 10 },
};
