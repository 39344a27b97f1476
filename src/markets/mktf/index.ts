import type { Market } from '../market.ts';
import { search } from './search.ts';
import { storePage } from './urls.ts';

/** Marketplace F: any store that shows its catalogue as JSON. */
export const mktf: Market = {
  name: 'mktf',
  regions: [],
  readers: { search },
  parseUrl: (page, url) => {
    if (page !== 'search') throw new Error(`no ${page} page is read of a store`);
    return { input: { url }, region: '', type: storePage(url).type };
  },
};
