import type { Browser, Page } from 'puppeteer-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { chromium, skipped } from '../browser/chromium.ts';
import { type ConsoleEnvironment, sharedConsole } from './environment.ts';
import {
  click,
  leaveBrowser,
  named,
  openBrowser,
  openTab,
  showTestData,
  signIn,
  waitForLoaded,
  waitForText,
} from './tab.ts';

describe.skipIf('missing' in chromium)(`the test account in the console${skipped}`, () => {
  let env: ConsoleEnvironment;
  let browser: Browser;
  beforeAll(async () => {
    [env, browser] = await Promise.all([sharedConsole(), openBrowser()]);
  });
  afterAll(async () => {
    if (browser) await leaveBrowser(browser);
  });

  /** Creates a user with a live job and a test job. */
  const createUser = async (scopes?: string[]) => {
    const user = await env.api.createUser(1_000);
    const key = async (fields: object): Promise<string> =>
      (await env.api.operator('CreateApiKey', { user_id: user.id, name: 'one', ...fields })).apiKey;
    const submit = async (by: string, shop: string) => {
      const items = [{ item_id: '20000000001', shop_id: shop }];
      const { body } = await env.api.post({ id: '', key: by }, '/v1/mkta/variant_sold_v1/submit', {
        country: 'sg',
        items,
      });
      return body.job_id as string;
    };
    const live = await submit(user.key, '7001');
    const test = await submit(await key({ mode: 'test' }), '7002');
    return { key: scopes === undefined ? user.key : await key({ scopes }), live, test };
  };
  const isMarked = async (page: Page) => (await page.$(named('note', 'Test data'))) !== null;
  const hasJob = (page: Page, id: string) =>
    page.$(`a[href$="/jobs/${id}"]`).then((link) => link !== null);
  const openJobs = async (page: Page) => {
    await page.goto(`${env.url}/jobs`);
    await waitForText(page, 'Variant sold');
    await waitForLoaded(page);
  };

  test('is reached in a low window, whose menu scrolls', async () => {
    const { key } = await createUser();
    const tab = await openTab(browser, { width: 1200, height: 500 });
    await signIn(tab, env.url, key);
    await showTestData(tab.page);
    expect(await isMarked(tab.page)).toBe(true);
    await tab.close();
  });

  test('is shown by a switch, per tab, with a mark and without live data', async () => {
    const { key, live, test } = await createUser();
    const tab = await openTab(browser);
    const { page } = tab;
    await signIn(tab, env.url, key);
    expect(await isMarked(page)).toBe(false);
    await showTestData(page);
    await openJobs(page);
    expect([await isMarked(page), await hasJob(page, test), await hasJob(page, live)]).toEqual([
      true,
      true,
      false,
    ]);
    expect(await page.title()).toMatch(/^Test data · /);

    const second = await page.browserContext().newPage();
    await openJobs(second);
    expect([
      await isMarked(second),
      await hasJob(second, test),
      await hasJob(second, live),
    ]).toEqual([false, false, true]);
    await second.close();

    await Promise.all([page.waitForNavigation(), click(page, 'button', 'Show live data')]);
    await openJobs(page);
    expect([await isMarked(page), await hasJob(page, live)]).toEqual([false, true]);
    expect(tab.pageErrors).toEqual([]);
    await tab.close();
  });

  test('says that jobs are free and approved automatically', async () => {
    const { key } = await createUser();
    const { apiKey } = await env.api.operator('CreateApiKey', {
      user_id: (await env.api.get({ id: '', key }, '/v1/account')).body.account.id,
      name: 'waits',
      mode: 'test',
    });
    // The sandbox keeps this job waiting.
    const items = [{ item_id: '20000000991', shop_id: '7003' }];
    const { body } = await env.api.post(
      { id: '', key: apiKey },
      '/v1/mkta/variant_sold_v1/submit',
      {
        country: 'sg',
        items,
      },
    );
    const tab = await openTab(browser, { width: 390, height: 844 });
    await signIn(tab, env.url, apiKey);
    await waitForText(tab.page, '0 credits charged for 0 jobs, 0 refunded');
    await tab.page.goto(`${env.url}/jobs/${body.job_id}`);
    await waitForText(tab.page, 'Jobs on test data are approved automatically');
    await waitForText(tab.page, 'Costs nothing');
    await tab.page.goto(`${env.url}/jobs`);
    await waitForText(tab.page, '0 credits ·');
    await tab.page.goto(`${env.url}/submit`);
    await waitForText(tab.page, 'Free on test data');
    expect(await tab.page.evaluate('document.body.innerText')).not.toContain('per unit');
    await tab.close();
  });

  test('allows what the key allows, and the next sign-in shows live data', async () => {
    const { key } = await createUser(['read']);
    const tab = await openTab(browser);
    const { page } = tab;
    await signIn(tab, env.url, key);
    await showTestData(page);
    await page.goto(`${env.url}/submit/mkta/variant_sold`);
    await waitForText(page, 'Add item');
    expect(await isMarked(page)).toBe(true);
    const button = await page.waitForSelector(named('button', 'Submit'));
    expect(await button!.evaluate((element) => element.getAttribute('aria-disabled'))).toBe('true');
    await click(page, 'button', 'Test');
    await click(page, 'menuitem', 'Sign out');
    await signIn(tab, env.url, key);
    expect(await isMarked(page)).toBe(false);
    await tab.close();
  });
});
