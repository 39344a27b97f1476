import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, BrowserContext, Page } from 'puppeteer-core';
import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import { plainIds } from '../../sandbox/mkta/ids.ts';
import type { TestUser } from '../support/service/api.ts';
import { until } from '../support/time/until.ts';
import { type ConsoleEnvironment, sharedConsole } from './environment.ts';
import { enterSession, leaveBrowser, openBrowser, openTab, openTabIn, type Tab } from './tab.ts';

/** Console of a test file: the service of the process, and the tabs and users of this file. */
export interface ConsoleSuite {
  readonly env: ConsoleEnvironment;
  readonly browser: Browser;
  /** Signs in with a key and opens a page. Tabs of one test have separate sessions. */
  open(key: string, path: string): Promise<Page>;
  openAsOperator(path: string): Promise<Page>;
  /** Opens a tab in a browser context of its own, without a session. */
  openEmptyTab(): Promise<Tab>;
  /** Returns a downloaded file once it is complete. */
  readDownload(name: string): Promise<Buffer>;
  createUser(name: string, credits: number): Promise<TestUser>;
  /**
   * Submits variants, which no other submission of the process contains. Returns the id of the job,
   * which awaits approval.
   */
  submit(user: TestUser, count: number): Promise<string>;
}

/** First item id of the last submission of the process. */
let firstId = 80_000_000_000;

/**
 * Prepares the console for the tests of a file. Closes the tabs after each test and fails it if a
 * page reported an error.
 */
export function useConsole(): ConsoleSuite {
  let env: ConsoleEnvironment;
  let browser: Browser;
  let folder: string;
  const tabs: Tab[] = [];
  // Contexts keep their cache for the next test of the file.
  const contexts: BrowserContext[] = [];
  let used = 0;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'gleaner-console-'));
    [env, browser] = await Promise.all([sharedConsole(), openBrowser()]);
  });
  afterEach(async () => {
    const pageErrors = tabs.flatMap((tab) => tab.pageErrors);
    for (const tab of tabs.splice(0)) await tab.close();
    used = 0;
    expect(pageErrors).toEqual([]);
  });
  afterAll(async () => {
    for (const context of contexts) await context.close();
    if (browser) await leaveBrowser(browser);
    await rm(folder, { recursive: true, force: true });
  });

  const open = async (key: string, path: string): Promise<Page> => {
    contexts[used] ??= await browser.createBrowserContext({
      downloadBehavior: { policy: 'allow', downloadPath: folder },
    });
    const tab = await openTabIn(contexts[used++]!);
    tabs.push(tab);
    await enterSession(tab.page, env.url, path, key);
    return tab.page;
  };
  return {
    get env() {
      return env;
    },
    get browser() {
      return browser;
    },
    open,
    openAsOperator: (path) => open(env.deployment.operatorKey, path),
    openEmptyTab: async () => {
      const tab = await openTab(browser);
      tabs.push(tab);
      return tab;
    },
    readDownload: (name) =>
      until(
        `${name} is saved`,
        () => readFile(join(folder, name)).then((bytes) => (bytes.length > 0 ? bytes : undefined)),
        { withinMs: 15_000 },
      ),
    createUser: async (name, credits) => {
      const { user } = await env.api.operator('CreateUser', { name });
      const { apiKey } = await env.api.operator('CreateApiKey', {
        user_id: user.id,
        name: 'first',
      });
      if (credits > 0)
        await env.api.operator('GrantCredits', { user_id: user.id, amount: credits });
      return { id: user.id, key: apiKey };
    },
    submit: async (user, count) => {
      firstId += 1_000_000;
      const items = plainIds(count, firstId).map((id) => ({ item_id: String(id), shop_id: '7' }));
      const response = await env.api.post(user, '/v1/mkta/variant_sold_v1/submit', {
        country: 'sg',
        items,
      });
      expect(response.status).toBe(202);
      return response.body.job_id;
    },
  };
}

/** Returns the visible text of a page. */
export const bodyText = (page: Page) => page.evaluate('document.body.innerText') as Promise<string>;
