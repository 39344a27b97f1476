import type { CDPSession } from 'puppeteer-core';
import type { Clock } from '../../base/clock.ts';
import { Fault } from '../../contract/fault.ts';
import type { PageResponse } from '../page.ts';
import { driverReason } from './driver-error.ts';
import { patterns } from './interception.ts';
import { statusErrors } from './main-documents.ts';
import { observe, type PageObservation } from './observe.ts';
import { serializeMs } from './page-body.ts';
import type { PageLoadLimits } from './page-load-limits.ts';
import type { PagePlan } from './page-plan.ts';
import type { Tab } from './tab.ts';

const timeouts: readonly string[] = ['ERR_TIMED_OUT', 'ERR_CONNECTION_TIMED_OUT'];

const incomplete = 'the connection closed before the response was complete';

const reasons: Readonly<Record<string, string>> = {
  ERR_ABORTED: 'the request was aborted',
  ERR_CONNECTION_CLOSED: incomplete,
  ERR_CONNECTION_REFUSED: 'the connection was refused',
  ERR_CONNECTION_RESET: 'the connection was reset',
  ERR_CONTENT_LENGTH_MISMATCH: incomplete,
  ERR_EMPTY_RESPONSE: incomplete,
  ERR_INCOMPLETE_CHUNKED_ENCODING: incomplete,
  ERR_NAME_NOT_RESOLVED: 'the host name does not exist',
};

/**
 * Converts a network error of the browser ("net::ERR_EMPTY_RESPONSE") to a fault: `page_timeout` or
 * `network`.
 */
export function netFault(errorText: string, url: string): Fault {
  const host = URL.parse(url)?.host ?? url.slice(0, 200);
  const code = errorText.replace(/^net::/, '');
  if (timeouts.includes(code))
    return new Fault('page_timeout', `${host}: the connection timed out`);
  const reason = /^ERR_(?:CERT|SSL)/.test(code) ? `TLS: ${code}` : (reasons[code] ?? code);
  return new Fault('network', `${host}: ${reason}`);
}

/** Sets the plan's initial cookies that the site has not set yet. */
async function setPreferences({ page }: Tab, { origin, preferences }: PagePlan): Promise<void> {
  const entries = Object.entries(preferences);
  if (entries.length === 0) return;
  const context = page.browserContext();
  const { hostname, protocol } = new URL(origin);
  const existing = new Set((await context.cookies()).map(({ name }) => name));
  const cookies = entries.flatMap(([name, value]) =>
    existing.has(name)
      ? []
      : [
          {
            name,
            value,
            domain: hostname,
            path: '/',
            secure: protocol === 'https:',
          },
        ],
  );
  await context.setCookie(...cookies);
}

async function prepare(
  cdp: CDPSession,
  userAgent: string,
  { languages }: PagePlan,
  limits: PageLoadLimits,
): Promise<void> {
  await Promise.all([
    cdp.send('Network.enable', {
      maxTotalBufferSize: limits.pageBytes,
      maxResourceBufferSize: limits.bytes,
    }),
    // The requests of a service worker could not be observed.
    cdp.send('Network.setBypassServiceWorker', { bypass: true }),
    cdp.send('Page.enable'),
    cdp.send('Emulation.setUserAgentOverride', {
      userAgent,
      ...(languages === undefined ? {} : { acceptLanguage: languages }),
    }),
    cdp.send('Fetch.enable', { patterns }),
  ]);
}

/** Options for loadPage(). */
export interface LoadPageOptions {
  limits: PageLoadLimits;
  clock: Clock;
  /** Called when a response came from the cache and the page is loaded again without it. */
  onCached(url: string): void;
  signal?: AbortSignal | undefined;
}

/** Starts loading a page and observing it. */
async function startLoading(
  tab: Tab,
  plan: PagePlan,
  options: LoadPageOptions,
): Promise<PageObservation> {
  const { page, egress, userAgent } = tab;
  const { limits, clock, onCached } = options;
  const cdp = await page.createCDPSession();
  const { frameTree } = await cdp.send('Page.getFrameTree');
  const failureOf = (errorText: string, url: string) =>
    egress?.faultOf(url) ?? netFault(errorText, url);
  const mainFrame = frameTree.frame.id;
  const observation = observe({
    cdp,
    mainFrame,
    plan,
    limits,
    failureOf,
    clock,
    onCached,
  });
  const fail = (reason: unknown) => observation.fail(reason);
  page.once('error', fail);
  page.once('close', () => fail(new Error('it was closed')));
  const navigate = async () => {
    await Promise.all([prepare(cdp, userAgent, plan, limits), setPreferences(tab, plan)]);
    // It returns with the response of the site, for which the page's own limit holds.
    const patient = { timeout: 2 * limits.totalMs };
    const { errorText } = await cdp.send('Page.navigate', { url: plan.url }, patient);
    // The observation has the reason for an aborted navigation, and the status of an error.
    const isObserved = errorText === 'net::ERR_ABORTED' || statusErrors.includes(errorText ?? '');
    if (errorText === undefined || isObserved) return;
    throw failureOf(errorText, plan.url);
  };
  navigate().catch(fail);
  return observation;
}

/**
 * Loads a page in a tab and returns the part that the plan asks for: the response to the page's own
 * request, or the rendered document, which also takes the place of a response that the page never
 * requested. At the deadline, a complete document is the result, too. Images, media, fonts, and
 * frames of other sites are not loaded, dialogs are dismissed, and navigations stay on the origin.
 * Rejects with `network`, `page_timeout`, `page_too_large`, `address_refused`, `page_unreadable`,
 * or `browser_failed`, or with the signal's reason if aborted.
 */
export async function loadPage(
  tab: Tab,
  plan: PagePlan,
  options: LoadPageOptions,
): Promise<PageResponse> {
  const { limits, signal } = options;
  const stop = Promise.withResolvers<never>();
  const subject = plan.take === 'document' ? 'the page' : "the page's request";
  const timeout = new Fault('page_timeout', `${subject} took longer than ${limits.totalMs} ms`);
  const expire = () => (observation ? observation.expire(timeout) : stop.reject(timeout));
  const expiry = setTimeout(expire, limits.totalMs);
  const timer = setTimeout(() => stop.reject(timeout), limits.totalMs + serializeMs);
  const aborted = () => stop.reject(signal!.reason);
  signal?.addEventListener('abort', aborted, { once: true });
  let observation: PageObservation | undefined;

  const load = async (): Promise<PageResponse> => {
    signal?.throwIfAborted();
    observation = await startLoading(tab, plan, options);
    return observation.page;
  };
  try {
    return await Promise.race([load(), stop.promise]);
  } catch (error) {
    if (signal?.aborted) throw signal.reason;
    if (error instanceof Fault) throw error;
    throw new Fault('browser_failed', `the browser lost the page: ${driverReason(error)}`, {
      cause: error,
    });
  } finally {
    observation?.stop();
    clearTimeout(expiry);
    clearTimeout(timer);
    signal?.removeEventListener('abort', aborted);
  }
}
