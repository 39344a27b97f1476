import type { Browser, BrowserContext, CookieData, Page } from 'puppeteer-core';
import { withTimeout } from '../../base/abort.ts';
import type { ScopedCache, SessionScope } from '../cookie-store.ts';
import type { OpenPage, SessionContext } from './browser-process.ts';
import type { Egress } from './egress.ts';

/** A page of the browser, and the proxy of its context. */
export interface Tab {
  page: Page;
  /** Null in a browser that makes its own connections. */
  egress: Egress | null;
  /** User-Agent of the page. */
  userAgent: string;
}

/** Timeouts for the browser to respond and to end, in milliseconds. */
export const responseMs = 15_000;
export const endMs = 5_000;

/** Time in which a browser that does not hang responds, in milliseconds. */
const aliveMs = 8_000;

/** Size of pages. */
export const viewport = { width: 1366, height: 900 };

/** Options for openContext(). */
export interface OpenContextOptions {
  browser: Browser;
  scope: SessionScope;
  egress: Egress | null;
  /** User-Agent of the pages. */
  userAgent: string;
  /** Cookies of closed contexts. */
  cookies: ScopedCache<CookieData[]>;
}

/** Opens a context with the cookies of its session. Closes the egress with it, or if that fails. */
export async function openContext(options: OpenContextOptions): Promise<SessionContext<Tab>> {
  const { browser, scope, egress, userAgent, cookies } = options;
  let context: BrowserContext;
  try {
    context = await browser.createBrowserContext({
      // Otherwise the browser bypasses the proxy for loopback addresses.
      ...(egress === null ? {} : { proxyServer: egress.proxy, proxyBypassList: ['<-loopback>'] }),
      downloadBehavior: { policy: 'deny' },
    });
    await context.setCookie(...(cookies.get(scope) ?? []));
  } catch (error) {
    await egress?.close();
    throw error;
  }
  closePopups(context);
  return {
    async page(): Promise<OpenPage<Tab>> {
      const page = await withTimeout(responseMs, 'opening a page', context.newPage());
      return {
        page: { page, egress, userAgent },
        close: () => withTimeout(endMs, 'closing a page', page.close()),
      };
    },
    async close(keepsCookies) {
      try {
        if (keepsCookies)
          cookies.set(scope, await withTimeout(endMs, 'reading cookies', context.cookies()));
        await withTimeout(endMs, 'closing a context', context.close());
      } finally {
        await egress?.close();
      }
    },
  };
}

function closePopups(context: BrowserContext): void {
  context.on('targetcreated', (target) => {
    if (target.type() !== 'page' || !target.opener()) return;
    target
      .page()
      .then((page) => page?.close())
      .catch(() => {});
  });
}

/** Returns a function that rejects if the browser does not respond in time. */
export async function createPing(browser: Browser): Promise<() => Promise<unknown>> {
  const session = await browser.target().createCDPSession();
  // The driver remembers the version.
  return () => session.send('Browser.getVersion', undefined, { timeout: aliveMs });
}
