import { tmpdir } from 'node:os';
import puppeteer, { type Browser, type CookieData } from 'puppeteer-core';
import { withTimeout } from '../../base/abort.ts';
import { createProcessFolder, removeProcessFolder } from '../../base/process-folder.ts';
import { Fault } from '../../contract/fault.ts';
import type { ScopedCache, SessionScope } from '../cookie-store.ts';
import type { BrowserProcess } from './browser-process.ts';
import { driverReason, notResponding } from './driver-error.ts';
import { type EgressRules, openEgress } from './egress.ts';
import { readTreeMemory } from './memory.ts';
import { diagnoseStartFailure, killGroup } from './start-failure.ts';
import { createPing, endMs, openContext, responseMs, type Tab, viewport } from './tab.ts';
import { assertNoDatagrams } from './webrtc-check.ts';

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

/** Timeout for the browser to start, in milliseconds. */
const startMs = 30_000;

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
  // Forbids datagrams, which would bypass a context's proxy. The flag has another name in older
  // versions.
  '--webrtc-ip-handling-policy=disable_non_proxied_udp',
  '--force-webrtc-ip-handling-policy=disable_non_proxied_udp',
  `--js-flags=--max-old-space-size=${scriptMegabytes}`,
  `--disk-cache-size=${cacheBytes}`,
];

/** Forces all traffic through a context's proxy: the browser resolves no names. */
const proxiedFlags = ['--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1'];

/** Maximum length of the path of a folder that contains the folders of browsers. */
const maxParentLength = 20;

/**
 * Returns the folder for the folders of browsers. Chromium creates a socket in its folder, and
 * systems limit the length of a socket's path to about 100 characters, which it does not survive.
 */
export const profileParent = (): string => (tmpdir().length > maxParentLength ? '/tmp' : tmpdir());

/** Returns the flags for the sandbox: Chromium does not start as root with one. */
function sandboxFlags(): string[] {
  return process.getuid?.() === 0 ? ['--no-sandbox'] : [];
}

async function start(path: string, profile: string, more: readonly string[]): Promise<Browser> {
  // This process's environment contains secrets.
  const env = {
    PATH: '/usr/local/bin:/usr/bin:/bin',
    HOME: profile,
    TMPDIR: profile,
    LANG: 'C.UTF-8',
  };
  // The driver adds the pipe only if no other connection is named.
  const args = ['--remote-debugging-pipe', ...sandboxFlags(), ...flags, ...more];
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
      defaultViewport: viewport,
      timeout: startMs,
      protocolTimeout: responseMs,
    });
  } catch (error) {
    // The browser's own output is more useful than the error that its pipe was closed. One that
    // hangs would hang again.
    const failure = driverReason(error);
    const isHung = failure === notResponding;
    const diagnosis = isHung ? null : await diagnoseStartFailure(path, args, profile, env);
    const reason = diagnosis ?? failure;
    throw new Fault('browser_failed', `the browser ${path} did not start: ${reason}`, {
      cause: error,
    });
  }
}

/** A browser that this process started. */
export interface StartedBrowser
  extends Pick<BrowserProcess<Tab>, 'gone' | 'memory' | 'ping' | 'kill' | 'close'> {
  browser: Browser;
  /** Its folder. */
  profile: string;
}

/**
 * Starts a browser in its own process group with its own folder, which is removed when it ends.
 * Rejects with `browser_failed` and the browser's error output.
 */
export async function startBrowser(
  path: string,
  moreFlags: readonly string[],
): Promise<StartedBrowser> {
  const profile = await createProcessFolder('browser', profileParent());
  let browser: Browser;
  try {
    browser = await start(path, profile, moreFlags);
  } catch (error) {
    await removeProcessFolder(profile);
    throw error;
  }
  const pid = browser.process()!.pid!;
  // A pipe to a browser that was killed with unread messages fails; its end is reported all the
  // same.
  for (const stream of browser.process()!.stdio) stream?.on('error', () => {});
  const { promise: gone, resolve: resolveGone } = Promise.withResolvers<void>();
  browser.once('disconnected', () => {
    killGroup(pid);
    removeProcessFolder(profile)
      .catch(() => {})
      .finally(resolveGone);
  });
  const kill = () => killGroup(pid);
  const close = async () => {
    await withTimeout(endMs, 'closing the browser', browser.close()).catch(kill);
    await gone;
  };
  try {
    await assertNoDatagrams(browser);
    const ping = await createPing(browser);
    return {
      browser,
      profile,
      gone,
      memory: () => readTreeMemory(pid),
      ping,
      kill,
      close,
    };
  } catch (error) {
    await close();
    throw Fault.from(error);
  }
}

/** Starts a browser for the pages of this process. Rejects as startBrowser() does. */
export async function launchBrowser(options: LaunchOptions): Promise<BrowserProcess<Tab>> {
  const { path, rules, cookies } = options;
  const { browser, gone, memory, ping, kill, close } = await startBrowser(path, proxiedFlags);
  // The browser's own value comes first and unchanged, including "Headless", to identify the client
  // honestly.
  const userAgent = `${await browser.userAgent()} ${options.userAgent}`;
  return {
    gone,
    memory,
    ping,
    kill,
    close,
    context: async (scope) => {
      const egress = await openEgress(rules(scope));
      return openContext({
        browser,
        scope,
        egress,
        userAgent,
        cookies,
      });
    },
  };
}
