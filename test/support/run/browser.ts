import puppeteer, { type Browser } from 'puppeteer-core';
import { shareEngine } from '../../engines/share.ts';

/**
 * Connects to the Chromium that the test files of a run share. End the use with `disconnect()`,
 * since `close()` would end the browser of all, and close the contexts that you create.
 */
export async function sharedBrowser(): Promise<Browser> {
  const shared = await shareEngine('chromium');
  if ('missing' in shared) throw new Error(shared.missing);
  return puppeteer.connect({ browserWSEndpoint: shared.address });
}
