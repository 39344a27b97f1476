import { findBrowser } from '../../src/base/browser-path.ts';
import { systemClock } from '../../src/base/clock.ts';
import { createLog } from '../../src/base/log.ts';
import { type MarketOrigins, parseOrigins } from '../../src/base/origins.ts';
import {
  type BrowserFetcherOptions,
  createBrowserFetcher,
} from '../../src/fetch/browser/fetcher.ts';
import type { Fetcher } from '../../src/fetch/http.ts';
import { chromiumMissing, findEngine, type MissingEngine } from '../engines/missing.ts';
import { slack } from '../support/time/until.ts';

/** An installed browser. */
export interface Chromium {
  path: string;
}

async function installed(): Promise<Chromium | MissingEngine> {
  const path = process.env.GLEANER_BROWSER ?? findBrowser(process.env.PATH ?? '');
  if (path) return { path };
  return { missing: chromiumMissing };
}

/** The installed browser, or the reason why tests that need one are skipped. */
export const chromium = await findEngine(installed());

/** Reason for skipping the tests, to append to a title. Empty if they run. */
export const skipped = 'missing' in chromium ? ` (${chromium.missing})` : '';

/** Limits that no test reaches by accident, however slow the machine is. */
const unreachedLimits = {
  totalMs: 45_000 * slack,
  responseQuietMs: 30_000 * slack,
  settleMs: 30_000 * slack,
  responseSettleMs: 30_000 * slack,
};

/** Creates a fetcher that uses the installed browser, for the contents of an origins file. */
export function browserFetcher(
  origins: object,
  limits: BrowserFetcherOptions['limits'] = {},
  more: Partial<BrowserFetcherOptions> = {},
): Fetcher {
  return createBrowserFetcher({
    origins: parseOrigins(JSON.stringify(origins)) as ReadonlyMap<string, MarketOrigins>,
    clock: systemClock,
    log: createLog('silent', 'test'),
    userAgent: 'Gleaner/test (tests)',
    path: 'missing' in chromium ? null : chromium.path,
    limits: { ...unreachedLimits, ...limits },
    ...more,
  });
}
