import type { Market } from '../market.ts';

/** Marketplace A. */
export const mkta: Market = {
  name: 'mkta',
  regions: ['id', 'sg', 'th', 'ph', 'my', 'vn', 'tw', 'br'],
  readers: {},
};
