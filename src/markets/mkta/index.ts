import type { Market } from '../market.ts';
import { ids } from './ids.ts';
import { listedFields } from './listed-fields.ts';
import { merchant } from './merchant.ts';
import { pictureUrl } from './pictures.ts';
import { product } from './product.ts';
import { regions } from './regions.ts';
import { samples } from './samples.ts';
import { search } from './search.ts';
import { tracked } from './tracked.ts';
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
