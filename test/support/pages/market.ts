import type { Market } from '../../../src/markets/market.ts';

/** Creates a market without readers, for tests. */
export const createTestMarket = (overrides: Partial<Market> = {}): Market => ({
  name: 'mktx',
  regions: [],
  readers: {},
  listedFields: {},
  ids: {},
  samples: () => [],
  ...overrides,
});
