import type { Market } from '../market.ts';
import { listedFields, tracked } from './fields.ts';
import { ids, samples } from './ids.ts';
import { product } from './product.ts';
import { regions } from './regions.ts';
import { search } from './search.ts';

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
