import { tmpdir } from 'node:os';
import puppeteer, { type Browser, type BrowserContext, type CookieData, type Page } from 'puppeteer-core';
import { withTimeout } from '../../base/abort.ts';
import { createProcessFolder, removeProcessFolder } from '../../base/process-folder.ts';
import { Fault } from '../../contract/fault.ts';
import type { ScopedCache, SessionScope } from '../cookie-store.ts';
import type { BrowserProcess, OpenPage, SessionContext } from './browser-process.ts';
import { type Egress, type EgressRules, openEgress } from './egress.ts';
import { readTreeMemory } from './memory.ts';
import { diagnoseStartFailure } from './start-failure.ts';
import { assertNoDatagrams } from './webrtc-check.ts';

/** A page of the browser, and the proxy of its context. */
export interface Tab {
  page: Page;
  egress: Egress;
  /** User-Agent of the page. */
  userAgent: string;
}

/** Options for launchBrowser(). */
export interface LaunchOptions {
  /** Path of the Chromium executable. */
  path: string;
  rules(scope: SessionScope): EgressRules;
  /** Text appended to the browser's own User-Agent. */
  userAgent: string;
  /** Cookies of closed contexts. */
  cookies: ScopedCache<CookieData[]>;
}

/** Timeouts for the browser to start, to respond, and to end, in milliseconds. */
const startMs = 30_000;
const responseMs = 15_000;
const endMs = 5_000;

/** Maximum memory of the scripts of one page, in megabytes. */
const scriptMegabytes = 512;

/** Maximum size of a context's cache, in bytes. */
const cacheBytes = 32 * 1024 ** 2;

const flags: readonly string[] = [
  '--disable-gpu',
  '--disable-quic',
  // A spare renderer uses memory, and a page hangs if its spare renderer has just died.
  '--disable-features=SpareRendererForSitePerProcess',
  '--disable-component-update',
  '--blink-settings=imagesEnabled=false',
  '--disable-remote-fonts',
  '--autoplay-policy=user-gesture-required',
  // Forces all traffic through a context's proxy: the browser resolves no names and sends no datagrams. The
  // second flag has another name in older versions.
  '--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1',
  '--webrtc-ip-handling-policy=disable_non_proxied_udp',
  '--force-webrtc-ip-handling-policy=disable_non_proxied_udp',
  `--js-flags=--max-old-space-size=${scriptMegabytes}`,
  `--disk-cache-size=${cacheBytes}`,
];

/** Maximum length of the path of a folder that contains the folders of browsers. */
const maxParentLength = 20;

/**
 * Returns the folder for the folders of browsers. Chromium creates a socket in its folder, and systems limit
 * the length of a socket's path to about 100 characters, which it does not survive.
 */
export const profileParent = (): string => (tmpdir().length > maxParentLength ? '/tmp' : tmpdir());

/** Returns the flags for the sandbox: Chromium does not start as root with one. */
function sandboxFlags(): string[] {
  return process.getuid?.() === 0 ? ['--no-sandbox'] : [];
}

async function start(path: string, profile: string): Promise<Browser> {
  // This process's environment contains secrets.
  const env = { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: profile, TMPDIR: profile, LANG: 'C.UTF-8' };
  const args = [...sandboxFlags(), ...flags];
  try {
    return await puppeteer.launch({
      executablePath: path,
      // Closing the pipe ends the browser, even if this process is killed.
      pipe: true,
      handleSIGINT: false,
      handleSIGTERM: false,
      handleSIGHUP: false,
      userDataDir: profile,
      env,
      args,
      ignoreDefaultArgs: ['--disable-popup-blocking'],
      defaultViewport: { width: 1366, height: 900 },
      timeout: startMs,
      protocolTimeout: responseMs,
    });
  } catch (error) {
    // The browser's own output is more useful than the error that its pipe was closed.
    const diagnosis = await diagnoseStartFailure(path, args, profile, env);
    const reason = diagnosis ?? (error as Error).message.split('\n')[0];
    throw new Fault('browser_failed', `the browser ${path} did not start: ${reason}`, { cause: error });
  }
}

function killGroup(leader: number): void {
  try {
    process.kill(-leader, 'SIGKILL');
  } catch {
    // The whole group has ended.
  }
}

async function openContext(
  browser: Browser,
  userAgent: string,
  scope: SessionScope,
  { rules, cookies }: LaunchOptions,
): Promise<SessionContext<Tab>> {
  const egress = await openEgress(rules(scope));
  let context: BrowserContext;
  try {
    context = await browser.createBrowserContext({
      proxyServer: egress.proxy,
      // Otherwise the browser bypasses the proxy for loopback addresses.
      proxyBypassList: ['<-loopback>'],
      downloadBehavior: { policy: 'deny' },
    });
    await context.setCookie(...(cookies.get(scope) ?? []));
  } catch (error) {
    await egress.close();
    throw error;
  }
  // Closes popups.
  context.on('targetcreated', (target) => {
    if (target.type() !== 'page' || !target.opener()) return;
    target
      .page()
      .then((page) => page?.close())
      .catch(() => {});
  });
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
        if (keepsCookies) cookies.set(scope, await withTimeout(endMs, 'reading cookies', context.cookies()));
        await withTimeout(endMs, 'closing a context', context.close());
      } finally {
        await egress.close();
      }
    },
  };
}

/**
 * Starts a browser in its own process group with its own folder, which is removed when it ends. Rejects with
 * `browser_failed` and the browser's error output.
 */
export async function launchBrowser(options: LaunchOptions): Promise<BrowserProcess<Tab>> {
  const profile = await createProcessFolder('browser', profileParent());
  let browser: Browser;
  try {
    browser = await start(options.path, profile);
  } catch (error) {
    await removeProcessFolder(profile);
    throw error;
  }
  const { pid } = browser.process()!;
  const { promise: gone, resolve: resolveGone } = Promise.withResolvers<void>();
  browser.once('disconnected', () => {
    killGroup(pid!);
    removeProcessFolder(profile)
      .catch(() => {})
      .finally(resolveGone);
  });
  const close = async () => {
    await withTimeout(endMs, 'closing the browser', browser.close()).catch(() => killGroup(pid!));
    await gone;
  };
  try {
    await assertNoDatagrams(browser);
  } catch (error) {
    await close();
    throw Fault.from(error);
  }
  // The browser's own value comes first and unchanged, including "Headless", to identify the client honestly.
  const userAgent = `${await browser.userAgent()} ${options.userAgent}`;
  return {
    gone,
    memory: () => readTreeMemory(pid!),
    context: (scope) => openContext(browser, userAgent, scope, options),
    close,
  };
}
