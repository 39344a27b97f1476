import type { CDPSession } from 'puppeteer-core';
import { Fault } from '../../contract/fault.ts';
import { patterns } from './interception.ts';
import type { Tab } from './launch.ts';
import { netFault } from './net-fault.ts';
import { observe, type PageLimits, type Seen } from './observe.ts';
import type { Opening } from './opening.ts';

/** How large a page may be and how long it may take. */
export interface VisitLimits extends PageLimits {
  /** Milliseconds for one page. */
  totalMs: number;
}

/** What holds where nothing else is set. */
export const defaultVisitLimits: VisitLimits = {
  bytes: 16 * 1024 * 1024,
  pageBytes: 64 * 1024 * 1024,
  requests: 500,
  totalMs: 30_000,
  quietMs: 500,
  patienceMs: 3_000,
  settleMs: 8_000,
};

/** Gives the page's context the choices of a new visitor, but for those that the site has set itself. */
async function prefer({ page }: Tab, { origin, preferences }: Opening): Promise<void> {
  const choices = Object.entries(preferences);
  if (choices.length === 0) return;
  const context = page.browserContext();
  const { hostname, protocol } = new URL(origin);
  const kept = new Set((await context.cookies()).map(({ name }) => name));
  const cookies = choices.flatMap(([name, value]) =>
    kept.has(name) ? [] : [{ name, value, domain: hostname, path: '/', secure: protocol === 'https:' }],
  );
  await context.setCookie(...cookies);
}

async function prepare(cdp: CDPSession, userAgent: string, { languages }: Opening, limits: VisitLimits) {
  await Promise.all([
    cdp.send('Network.enable', {
      maxTotalBufferSize: limits.pageBytes,
      maxResourceBufferSize: limits.bytes,
    }),
    // A worker of the page's own would ask in its place, where nobody sees it.
    cdp.send('Network.setBypassServiceWorker', { bypass: true }),
    cdp.send('Page.enable'),
    cdp.send('Emulation.setUserAgentOverride', {
      userAgent,
      ...(languages === undefined ? {} : { acceptLanguage: languages }),
    }),
    cdp.send('Fetch.enable', { patterns }),
  ]);
}

/**
 * Opens a page in a tab and takes what is wanted: the answer to the page's own request, or the document
 * once it is rendered, which also stands for a request that never came. Images, media, fonts and frames of
 * other sites are not loaded, dialogs are dismissed, the origin is not left. Faults: `network`,
 * `page_timeout`, `page_too_large`, `address_refused`, `page_unreadable` for what no page shows,
 * `browser_failed`. Rejects with the signal's reason when aborted.
 */
export async function visit(
  tab: Tab,
  opening: Opening,
  limits: VisitLimits,
  signal?: AbortSignal,
): Promise<Seen> {
  const { page, egress, userAgent } = tab;
  const stop = Promise.withResolvers<never>();
  const what = opening.take === 'document' ? 'the page' : 'what the page asks for';
  const late = () => stop.reject(new Fault('page_timeout', `${what} took longer than ${limits.totalMs} ms`));
  const timer = setTimeout(late, limits.totalMs);
  const aborted = () => stop.reject(signal!.reason);
  signal?.addEventListener('abort', aborted, { once: true });
  let end = () => {};

  const open = async (): Promise<Seen> => {
    signal?.throwIfAborted();
    const cdp = await page.createCDPSession();
    const { frameTree } = await cdp.send('Page.getFrameTree');
    const failureOf = (errorText: string, url: string) => egress.faultOf(url) ?? netFault(errorText, url);
    const observation = observe(cdp, frameTree.frame.id, opening, limits, failureOf);
    end = observation.stop;
    page.once('error', observation.fail);
    page.once('close', () => observation.fail(new Error('it was closed')));
    const begin = async () => {
      await Promise.all([prepare(cdp, userAgent, opening, limits), prefer(tab, opening)]);
      const { errorText } = await cdp.send('Page.navigate', { url: opening.url });
      // What was given up was so for a reason that the observation knows.
      if (errorText === undefined || errorText === 'net::ERR_ABORTED') return;
      throw failureOf(errorText, opening.url);
    };
    begin().catch(observation.fail);
    return observation.seen;
  };
  try {
    return await Promise.race([open(), stop.promise]);
  } catch (error) {
    if (signal?.aborted) throw signal.reason;
    if (error instanceof Fault) throw error;
    throw new Fault('browser_failed', `the browser lost the page: ${(error as Error).message}`, {
      cause: error,
    });
  } finally {
    end();
    clearTimeout(timer);
    signal?.removeEventListener('abort', aborted);
  }
}
