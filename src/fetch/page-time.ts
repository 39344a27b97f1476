import type { PageResponse } from './page.ts';

/**
 * Returns the time of the contents of a page, in milliseconds since the epoch: the time at which it
 * arrived or, if a cache of the site sent a copy, at which the cache got it (`Age`, RFC 9111,
 * section 5.1).
 */
export function pageTime({ at, headers }: Pick<PageResponse, 'at' | 'headers'>): number {
  const age = /^\s*(\d{1,10})\s*(?:,|$)/.exec(headers.age ?? '')?.[1];
  return age === undefined ? at : Math.max(0, at - Number(age) * 1000);
}
