import type { Market } from '../market.ts';
import { listedFields, pictureUrl, tracked } from './fields.ts';
import { ids, samples } from './ids.ts';
import { merchant } from './merchant.ts';
import { product } from './product.ts';
import { regions } from './regions.ts';
import { search } from './search.ts';
import { pagePath, parseUrl } from './urls.ts';
import { variants } from './variants.ts';

/** Marketplace A. */
export const mkta: Market = {
  name: 'mkta',
  regions: Object.keys(regions),
  readers: { product, variants, search, merchant },
  listedFields,
  ids,
  samples,
  tracked,
  parseUrl,
  pictureUrl,
  pagePath,
};
