import type { Origin } from './origin.ts';

/** Marketplace A: items of our own in all eight regions. */
export const mkta: Origin = {
  market: 'mkta',
  regions: ['id', 'sg', 'th', 'ph', 'my', 'vn', 'tw', 'br'],
  answer: () => ({ status: 404, headers: { 'content-type': 'text/plain' }, body: 'not found' }),
};
