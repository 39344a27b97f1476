import puppeteer, { type Browser, type ConnectionTransport, type CookieData } from 'puppeteer-core';
import { Fault } from '../../contract/fault.ts';
import type { ScopedCache } from '../cookie-store.ts';
import type { BrowserProcess } from './browser-process.ts';
import { openDevTools } from './devtools-transport.ts';
import { driverReason } from './driver-error.ts';
import { createPing, openContext, responseMs, type Tab, viewport } from './tab.ts';

/** Options for connectBrowser(). */
export interface ConnectBrowserOptions {
  /** DevTools address. */
  url: string;
  /** Text appended to the browser's own User-Agent. */
  userAgent: string;
  /** Cookies of closed contexts. */
  cookies: ScopedCache<CookieData[]>;
}

/**
 * Connects to a browser that runs elsewhere, which other processes may use, too. It makes the
 * connections of its pages itself, so that no rules for them apply. Its contexts end with the
 * connection. Rejects with `browser_failed`.
 */
export async function connectBrowser(options: ConnectBrowserOptions): Promise<BrowserProcess<Tab>> {
  const { url, cookies } = options;
  let browser: Browser;
  let transport: ConnectionTransport;
  try {
    transport = await openDevTools(url);
    browser = await puppeteer.connect({
      transport,
      defaultViewport: viewport,
      protocolTimeout: responseMs,
      // Pages of other processes are not in contexts of this one.
      targetFilter: (target) =>
        target.type() === 'browser' || target.browserContext().id !== undefined,
    });
  } catch (error) {
    const { origin } = new URL(url);
    const message = `the browser at ${origin} cannot be reached: ${driverReason(error)}`;
    throw new Fault('browser_failed', message, { cause: error });
  }
  const { promise: gone, resolve } = Promise.withResolvers<void>();
  browser.once('disconnected', () => resolve());
  const userAgent = `${await browser.userAgent()} ${options.userAgent}`;
  // The driver's own method does not notify the pages.
  const disconnect = () => transport.close();
  return {
    gone,
    // The process that runs it limits its memory.
    memory: async () => null,
    ping: await createPing(browser),
    kill: disconnect,
    context: (scope) =>
      openContext({
        browser,
        scope,
        egress: null,
        userAgent,
        cookies,
      }),
    close: async () => {
      disconnect();
      await gone;
    },
  };
}
