import type { Browser, Page } from 'puppeteer-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { plainIds } from '../../sandbox/mkta/ids.ts';
import { chromium, skipped } from '../browser/chromium.ts';
import type { TestUser } from '../support/api.ts';
import { brokenRule } from '../support/hold.ts';
import { until } from '../support/until.ts';
import { type ConsoleEnvironment, startConsoleEnvironment } from './environment.ts';
import { runVariants } from './held-job.ts';
import {
  click,
  clickInDialog,
  clickInRow,
  leaveBrowser,
  named,
  openBrowser,
  openTab,
  signIn,
  type Tab,
  waitForText,
} from './tab.ts';

describe.skipIf('missing' in chromium)(`destinations in the console${skipped}`, () => {
  let env: ConsoleEnvironment;
  let browser: Browser;
  const tabs: Tab[] = [];
  const timeout = 120_000;
  beforeAll(async () => {
    [env, browser] = await Promise.all([startConsoleEnvironment({ latencyMs: 5 }), openBrowser()]);
  });
  afterAll(async () => {
    if (browser) await leaveBrowser(browser);
    await env?.stop();
  });
  afterEach(async () => {
    const pageErrors = tabs.flatMap((tab) => tab.pageErrors);
    for (const tab of tabs.splice(0)) await tab.close();
    expect(pageErrors).toEqual([]);
  });

  const open = async (key: string, path: string): Promise<Page> => {
    const tab = await openTab(browser);
    tabs.push(tab);
    await signIn(tab, env.url + path, key);
    return tab.page;
  };
  /** Replaces the text of an input. */
  const enter = async (page: Page, name: string, text: string) => {
    await page.locator(named('textbox', name)).click({ count: 3 });
    await page.keyboard.type(text);
  };
  const destinationsOf = async (user: TestUser) =>
    (await env.api.get(user, '/v1/destinations')).body.destinations;
  const request = (count: number) => ({
    country: 'sg',
    items: plainIds(count, 81_000_000_000).map((id) => ({ item_id: String(id), shop_id: '7' })),
  });
  const createInbox = async (user: TestUser) => {
    const settings = { name: 'inbox', type: 'https', url: env.receiver.filesUrl };
    expect((await env.api.post(user, '/v1/destinations', settings)).status).toBe(201);
  };
  const fileOf = (jobId: string) => [...env.receiver.files].find(([path]) => path.includes(jobId));

  test('creates a destination that accepts the test object, tests, changes, and deletes it', {
    timeout,
  }, async () => {
    const user = await env.api.createUser(100);
    const page = await open(user.key, '/destinations');
    await waitForText(page, 'No destinations yet');
    await click(page, 'button', 'Create destination');
    await page.locator(named('combobox', 'Type')).fill('https');
    await enter(page, 'Name', 'inbox');
    await enter(page, 'URL', env.receiver.refusingUrl);
    await click(page, 'button', 'Add header');
    await enter(page, 'Name of header 1', 'Authorization');
    await enter(page, 'Value of header 1', 'Bearer secret-of-inbox');
    await clickInDialog(page, 'Test and create');
    await waitForText(page, 'Cannot write a test object');
    await waitForText(page, 'Fix the highlighted fields.');
    expect(await destinationsOf(user)).toEqual([]);

    await enter(page, 'URL', env.receiver.filesUrl);
    await clickInDialog(page, 'Test and create');
    await waitForText(page, 'Destination created.');
    await waitForText(page, env.receiver.filesUrl);
    expect(await destinationsOf(user)).toMatchObject([
      { name: 'inbox', type: 'https', format: 'json', header_names: ['authorization'] },
    ]);
    expect(await page.content()).not.toContain('secret-of-inbox');

    await clickInRow(page, 'inbox', 'Test');
    await waitForText(page, 'Test object written to');

    await clickInRow(page, 'inbox', 'Edit');
    await waitForText(page, 'Stored: authorization.');
    await page.locator(named('combobox', 'Format')).fill('csv');
    await clickInDialog(page, 'Test and save');
    await waitForText(page, 'Destination changed.');
    expect(await destinationsOf(user)).toMatchObject([{ format: 'csv', header_names: ['authorization'] }]);

    await clickInRow(page, 'inbox', 'Delete');
    await clickInDialog(page, 'Delete destination');
    await waitForText(page, 'No destinations yet');
    expect(await destinationsOf(user)).toEqual([]);
  });

  test('a key that can only read sees destinations and cannot change them', async () => {
    const user = await env.api.createUser(100);
    await createInbox(user);
    const key = { user_id: user.id, name: 'reader', scopes: ['read'] };
    const { apiKey } = await env.api.operator('CreateApiKey', key);
    const page = await open(apiKey, '/destinations');
    await waitForText(page, 'inbox');
    for (const name of ['Create destination', 'Test inbox', 'Edit inbox', 'Delete inbox']) {
      const button = await page.waitForSelector(named('button', name));
      expect(await button!.evaluate((element) => element.getAttribute('aria-disabled'))).toBe('true');
    }
  });

  test('submits with options, quotes with them, and releases the held deliveries', { timeout }, async () => {
    const user = await env.api.createUser(5_000);
    await createInbox(user);
    const rule = await brokenRule(env.api, user, await runVariants(env, user, request(40)));

    const page = await open(user.key, '/submit/mkta/variant_sold?tab=json');
    await page.locator(named('textbox', 'Body')).fill(JSON.stringify(request(40)));
    // Puppeteer sets a long text without an event that React notices.
    await page.keyboard.type(' ');
    await click(page, 'button', 'Options');
    await enter(page, 'Deliver to', 'inbox');
    await enter(page, 'Hold below', 'cost:95');
    await waitForText(page, 'is not a field of the records');
    await enter(page, 'Hold below', rule);
    await waitForText(page, 'Options (2 set)');
    await click(page, 'button', 'Submit 40 units');
    await page.waitForFunction(`location.pathname.startsWith('/console/jobs/')`);
    const jobId = new URL(page.url()).pathname.split('/').at(-1)!;
    await env.api.operator('ApproveJob', { job_id: jobId });
    await waitForText(page, 'Deliveries held', 30_000);
    await waitForText(page, 'minimum 100%');
    await waitForText(page, 'of 40 records violate the schema');
    expect(fileOf(jobId)).toBeUndefined();

    await click(page, 'button', 'Release');
    await waitForText(page, 'Deliveries released');
    const [path] = await until('the file arrives', async () => fileOf(jobId), {
      withinMs: 30_000,
      everyMs: 100,
    });
    await page.goto(`${env.url}/webhook`);
    await waitForText(page, 'Result file');
    await waitForText(page, path);
    await waitForText(page, `Job ${jobId.slice(0, 8)}`);
  });

  test('discards held deliveries after a confirmation, which operators cannot', { timeout }, async () => {
    const user = await env.api.createUser(5_000);
    await createInbox(user);
    const rule = await brokenRule(env.api, user, await runVariants(env, user, request(40)));
    const jobId = await runVariants(
      env,
      user,
      request(40),
      `?deliver_to=inbox&hold=${encodeURIComponent(rule)}`,
    );
    const operator = await open(env.deployment.operatorKey, `/jobs/${jobId}`);
    await waitForText(operator, 'The owner of the job decides.');
    expect(await operator.$(named('button', 'Discard'))).toBeNull();

    const page = await open(user.key, `/jobs/${jobId}`);
    await click(page, 'button', 'Discard');
    await clickInDialog(page, 'Discard deliveries');
    await waitForText(page, 'Deliveries discarded');
    expect((await env.api.get(user, `/v1/jobs/${jobId}`)).body.hold.state).toBe('discarded');
    expect(fileOf(jobId)).toBeUndefined();
  });
});
