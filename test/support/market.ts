import type { Market } from '../../src/markets/market.ts';

/** Creates a market without readers, for tests. */
export const aMarket = (differing: Partial<Market> = {}): Market => ({
  name: 'mktx',
  regions: [],
  readers: {},
  listedFields: {},
  ids: {},
  samples: () => [],
  ...differing,
});
