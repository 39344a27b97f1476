import puppeteer, { type Browser, type BrowserContext, type CookieData, type Page } from 'puppeteer-core';
import { Fault } from '../../contract/fault.ts';
import type { Kept, Visited } from '../sessions.ts';
import { type Egress, type EgressRules, openEgress } from './egress.ts';
import { memoryOf } from './memory.ts';
import type { Context, Engine, OpenPage } from './pool.ts';
import { makeProfile, removeProfile } from './profile.ts';
import { startFailure } from './start-failure.ts';

/** A page to visit with, and its way out. */
export interface Tab {
  page: Page;
  egress: Egress;
  /** What the pages say that they are opened with. */
  userAgent: string;
}

/** What a browser is started with. */
export interface LaunchOptions {
  /** Path of a Chromium. */
  path: string;
  /** Where the pages of a site may go. */
  rules(visited: Visited): EgressRules;
  /** Added to the browser's own. */
  userAgent: string;
  /** Cookies of the contexts before. */
  cookies: Kept<CookieData[]>;
}

/** Milliseconds for the browser to start, to answer, and to end. */
const startMs = 30_000;
const answerMs = 15_000;
const endMs = 5_000;

/** Megabytes that the scripts of one page may hold, and bytes that one context's cache may. */
const scriptMemory = 512;
const cacheBytes = 32 * 1024 ** 2;

const flags: readonly string[] = [
  '--disable-gpu',
  '--disable-quic',
  // A process kept in reserve holds memory, and a page that is given one which has just died waits for ever.
  '--disable-features=SpareRendererForSitePerProcess',
  '--disable-component-update',
  '--blink-settings=imagesEnabled=false',
  '--disable-remote-fonts',
  '--autoplay-policy=user-gesture-required',
  // Nothing leaves but by a context's way out: no name is resolved here, no datagram is sent.
  '--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1',
  '--force-webrtc-ip-handling-policy=disable_non_proxied_udp',
  `--js-flags=--max-old-space-size=${scriptMemory}`,
  `--disk-cache-size=${cacheBytes}`,
];

async function within<Value>(ms: number, what: string, promise: Promise<Value>): Promise<Value> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`${what} took longer than ${ms} ms`)), ms);
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Chromium refuses to run as root with its sandbox. */
function sandboxFlags(): string[] {
  return process.getuid?.() === 0 ? ['--no-sandbox'] : [];
}

async function start(path: string, profile: string): Promise<Browser> {
  // Ours holds secrets.
  const env = { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: profile, TMPDIR: profile, LANG: 'C.UTF-8' };
  const args = [...sandboxFlags(), ...flags];
  try {
    return await puppeteer.launch({
      executablePath: path,
      // The browser ends when this process does, whatever ends it: its end of the pipe is closed.
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
      protocolTimeout: answerMs,
    });
  } catch (error) {
    // What it says itself is better than that its pipe was closed.
    const said = await startFailure(path, args, profile, env);
    const reason = said ?? (error as Error).message.split('\n')[0];
    throw new Fault('browser_failed', `the browser ${path} did not start: ${reason}`, { cause: error });
  }
}

function killGroup(leader: number): void {
  try {
    process.kill(-leader, 'SIGKILL');
  } catch {
    // All of it has ended.
  }
}

async function openContext(
  browser: Browser,
  userAgent: string,
  visited: Visited,
  { rules, cookies }: LaunchOptions,
): Promise<Context<Tab>> {
  const egress = await openEgress(rules(visited));
  let context: BrowserContext;
  try {
    context = await browser.createBrowserContext({
      proxyServer: egress.proxy,
      // Without this the browser would connect to this machine by itself.
      proxyBypassList: ['<-loopback>'],
      downloadBehavior: { policy: 'deny' },
    });
    await context.setCookie(...(cookies.get(visited) ?? []));
  } catch (error) {
    await egress.close();
    throw error;
  }
  // A page that another one opened is nobody's.
  context.on('targetcreated', (target) => {
    if (target.type() !== 'page' || !target.opener()) return;
    target
      .page()
      .then((page) => page?.close())
      .catch(() => {});
  });
  return {
    async page(): Promise<OpenPage<Tab>> {
      const page = await within(answerMs, 'opening a page', context.newPage());
      return {
        page: { page, egress, userAgent },
        close: () => within(endMs, 'closing a page', page.close()),
      };
    },
    async close(works) {
      try {
        if (works) cookies.set(visited, await within(endMs, 'reading cookies', context.cookies()));
        await within(endMs, 'closing a context', context.close());
      } finally {
        await egress.close();
      }
    },
  };
}

/**
 * Starts a browser in a process group of its own, with a folder of its own that goes with it. Faults:
 * `browser_failed`, with what the browser said.
 */
export async function launchBrowser(options: LaunchOptions): Promise<Engine<Tab>> {
  const profile = await makeProfile();
  let browser: Browser;
  try {
    browser = await start(options.path, profile);
  } catch (error) {
    await removeProfile(profile);
    throw error;
  }
  const { pid } = browser.process()!;
  const { promise: gone, resolve: ended } = Promise.withResolvers<void>();
  browser.once('disconnected', () => {
    killGroup(pid!);
    removeProfile(profile)
      .catch(() => {})
      .finally(ended);
  });
  // Its own comes first and unchanged, "Headless" and all: pages are told what they run in, and for whom.
  const userAgent = `${await browser.userAgent()} ${options.userAgent}`;
  return {
    gone,
    memory: () => memoryOf(pid!),
    context: (visited) => openContext(browser, userAgent, visited, options),
    async close() {
      await within(endMs, 'closing the browser', browser.close()).catch(() => killGroup(pid!));
      await gone;
    },
  };
}
