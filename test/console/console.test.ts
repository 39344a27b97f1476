import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'puppeteer-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { plainIds } from '../../sandbox/mkta/ids.ts';
import { chromium, skipped } from '../browser/chromium.ts';
import { freePort } from '../engines/ports.ts';
import { type TestUser, watchJob } from '../support/api.ts';
import { createServiceProcess } from '../support/service.ts';
import { until } from '../support/until.ts';
import { type ConsoleEnvironment, startConsoleEnvironment } from './environment.ts';
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
  type TabOptions,
  waitForText,
} from './tab.ts';

describe.skipIf('missing' in chromium)(`the console${skipped}`, () => {
  let env: ConsoleEnvironment;
  let browser: Browser;
  let folder: string;
  const tabs: Tab[] = [];
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'gleaner-console-'));
    [env, browser] = await Promise.all([
      startConsoleEnvironment({ latencyMs: 20, withoutOrigin: ['mkta', 'br'] }),
      openBrowser(),
    ]);
  });
  afterAll(async () => {
    if (browser) await leaveBrowser(browser);
    await env?.stop();
    await rm(folder, { recursive: true, force: true });
  });
  afterEach(async () => {
    const pageErrors = tabs.flatMap((tab) => tab.pageErrors);
    for (const tab of tabs.splice(0)) await tab.close();
    expect(pageErrors).toEqual([]);
  });

  const open = async (key: string, path: string, options: TabOptions = {}) => {
    const tab = await openTab(browser, options);
    tabs.push(tab);
    await signIn(tab, env.url + path, key);
    return tab.page;
  };
  const openAsOperator = (path: string) => open(env.deployment.operatorKey, path);
  const bodyText = (page: Page) => page.evaluate('document.body.innerText') as Promise<string>;
  const createUser = async (name: string, credits: number): Promise<TestUser> => {
    const { user } = await env.api.operator('CreateUser', { name });
    const { apiKey } = await env.api.operator('CreateApiKey', { user_id: user.id, name: 'first' });
    if (credits > 0) await env.api.operator('GrantCredits', { user_id: user.id, amount: credits });
    return { id: user.id, key: apiKey };
  };
  let first = 80_000_000_000;
  const submit = async (user: TestUser, count: number): Promise<string> => {
    first += 1_000_000;
    const items = plainIds(count, first).map((id) => ({ item_id: String(id), shop_id: '7' }));
    const response = await env.api.post(user, '/v1/mkta/variant_sold_v1/submit', { country: 'sg', items });
    expect(response.status).toBe(202);
    return response.body.job_id;
  };

  test('rejects an unknown key with the reason', async () => {
    const tab = await openTab(browser);
    tabs.push(tab);
    await tab.page.goto(env.url);
    await tab.page.locator(named('textbox', 'API key')).fill('unknown');
    await click(tab.page, 'button', 'Sign in');
    await waitForText(tab.page, 'This API key is not valid.');
    expect(await tab.page.evaluate('sessionStorage.length')).toBe(0);
  });

  test('approves a job and follows it until it ends', async () => {
    const user = await createUser('Approved Ltd', 5_000);
    const jobId = await submit(user, 120);
    const page = await openAsOperator('/approvals');
    await clickInRow(page, 'Approved Ltd', 'View units');
    await waitForText(page, '120 units by Approved Ltd');
    await page.keyboard.press('Escape');
    await clickInRow(page, 'Approved Ltd', 'Approve');
    await waitForText(page, 'Job approved.');
    await page.goto(`${env.url}/jobs/${jobId}`);
    await waitForText(page, '120 of 120', 30_000);
    await waitForText(page, 'Completed');
    expect(await env.api.balance(user)).toBe(5_000 - 1_200);
  });

  test('shows a shortfall at its job and approves the other selected jobs', async () => {
    const poor = await createUser('Poor Ltd', 100);
    const waiting = await submit(poor, 10);
    const rich = await createUser('Rich Ltd', 100);
    const started = await submit(rich, 10);
    await env.api.operator('GrantCredits', { user_id: poor.id, amount: -60 });
    const page = await openAsOperator('/approvals');
    await waitForText(page, 'Insufficient');
    await page.locator(`::-p-xpath(//tr[contains(., "Poor Ltd")]//input)`).click();
    await page.locator(`::-p-xpath(//tr[contains(., "Rich Ltd")]//input)`).click();
    await click(page, 'button', 'Approve 2');
    await waitForText(page, 'Approval failed');
    await waitForText(page, '60');
    const status = async (jobId: string) => (await env.api.operator('GetJob', { job_id: jobId })).job.status;
    expect(await status(waiting)).toBe('awaiting_approval');
    expect(await status(started)).not.toBe('awaiting_approval');
    await env.api.operator('RejectJob', { job_id: waiting });
  });

  test('rejects a job with a reason that its user sees', async () => {
    const user = await createUser('Rejected Ltd', 1_000);
    const jobId = await submit(user, 5);
    const page = await openAsOperator('/approvals');
    await clickInRow(page, 'Rejected Ltd', 'Reject');
    await page.locator(named('textbox', 'Reason')).fill('These items are sold out.');
    await clickInDialog(page, 'Reject');
    await waitForText(page, 'Job rejected.');
    const own = await open(user.key, `/jobs/${jobId}`);
    await waitForText(own, 'These items are sold out.');
    expect(await env.api.balance(user)).toBe(1_000);
  });

  test('shows a rejected job as not run and not charged, without a result tab that leads nowhere', async () => {
    const user = await createUser('Not Run Ltd', 1_000);
    const jobId = await submit(user, 60);
    await env.api.operator('RejectJob', { job_id: jobId });
    const page = await open(user.key, `/jobs/${jobId}`);
    await waitForText(page, 'Nothing charged');
    await waitForText(page, 'Not run');
    const text = await bodyText(page);
    expect(text).not.toContain('60 failed');
    expect(text).not.toContain('600 credits');
    await click(page, 'tab', 'Results');
    await waitForText(page, 'This job did not run.');
    await page.goto(`${env.url}/jobs`);
    await waitForText(page, 'Rejected');
    expect(await bodyText(page)).not.toContain('failed');
  });

  test('shows the record of a single-page job with a download', async () => {
    const user = await createUser('Single Ltd', 1_000);
    const request = { region: 'sg', item_id: '32000000001', shop_id: '7003' };
    const { body } = await env.api.post(user, '/v1/mkta/get_pc/submit', request);
    const { jobs } = (await env.api.get(user, '/v1/jobs')).body;
    expect(jobs).toMatchObject([{ task_id: body.task_id }]);
    const page = await open(user.key, `/jobs/${jobs[0].job_id}`, { downloads: folder });
    await click(page, 'button', 'Download record');
    const name = `${jobs[0].job_id}.json`;
    const saved = await until(
      'the record is saved',
      () => readFile(join(folder, name), 'utf8').then((text) => text || undefined),
      { withinMs: 15_000 },
    );
    const results = await fetch(`${env.deployment.url}/v1/jobs/${jobs[0].job_id}/results`, {
      headers: { authorization: `Bearer ${user.key}` },
    });
    expect(JSON.parse(saved)).toEqual(JSON.parse(await results.text()).record);
    expect(await bodyText(page)).toContain('32000000001');
    expect(await bodyText(page)).not.toContain('No files yet');
  });

  test('searches the records of a job, shows one completely, and exports the selection', async () => {
    const user = await createUser('Explorer Ltd', 1_000);
    const items = ['011', '012', '800'].map((digits) => ({
      product_id: `1729000077${digits}`,
      country: 'th',
    }));
    const { body } = await env.api.post(user, '/v1/mktd/pdp/bulk/submit', { items });
    await env.api.get(user, `/v1/jobs/${body.job_id}?wait=30`);
    const { records } = (await env.api.get(user, `/v1/jobs/${body.job_id}/records`)).body;
    const [first, second, failed] = records;
    const page = await open(user.key, `/jobs/${body.job_id}?tab=results`, { downloads: folder });
    for (const shown of [first.item.title, second.item.title, failed.unit_key, 'page_not_found'])
      await waitForText(page, shown);
    const links = `[...document.querySelectorAll('main a[target=_blank]')].map(({ href, rel }) => href + ' ' + rel)`;
    expect(await page.evaluate(links)).toContain(`${first.item.url} noopener noreferrer`);

    await page.locator(`::-p-aria(Show record of ${first.item.title})`).click();
    await waitForText(page, '"_product_id": "1729000077011"');
    await page.keyboard.press('Escape');

    await click(page, 'button', 'Columns');
    await waitForText(page, 'product.title');
    await page.keyboard.press('Escape');
    await page.locator(named('textbox', 'Search')).fill(second.item.title);
    await waitForText(page, '1 found');
    expect(await bodyText(page)).not.toContain('page_not_found');
    await click(page, 'button', 'Export');
    await click(page, 'menuitem', 'CSV');
    const saved = await until(
      'the table is saved',
      () => readFile(join(folder, `${body.job_id}.csv`), 'utf8').then((text) => text || undefined),
      { withinMs: 15_000 },
    );
    expect(saved).toMatch(/^unit_index,/);
    expect(saved).toContain(',1729000077012,');
    expect(saved).not.toContain(',1729000077011,');
  });

  test("lets an operator search and export a user's records, and records each access", async () => {
    const user = await createUser('Inspected Ltd', 1_000);
    const items = ['011', '012'].map((digits) => ({ product_id: `1729000077${digits}`, country: 'th' }));
    const { body } = await env.api.post(user, '/v1/mktd/pdp/bulk/submit', { items });
    const jobId: string = body.job_id;
    await env.api.get(user, `/v1/jobs/${jobId}?wait=30`);
    const { records } = (await env.api.get(user, `/v1/jobs/${jobId}/records`)).body;
    const tab = await openTab(browser, { downloads: folder });
    tabs.push(tab);
    await signIn(tab, `${env.url}/jobs/${jobId}?tab=results`, env.deployment.operatorKey);
    const { page } = tab;
    await waitForText(page, records[0].item.title);
    await waitForText(page, 'records violate the schema');
    await click(page, 'button', 'Columns');
    await waitForText(page, 'product.title');
    await page.keyboard.press('Escape');
    await page.locator(named('textbox', 'Search')).fill(records[1].item.title);
    await waitForText(page, '1 found');
    await click(page, 'button', 'Export');
    await click(page, 'menuitem', 'CSV');
    const saved = await until(
      'the table is saved',
      () => readFile(join(folder, `${jobId}.csv`), 'utf8').then((text) => text || undefined),
      { withinMs: 15_000 },
    );
    expect(saved).toContain(',1729000077012,');
    expect(saved).not.toContain(',1729000077011,');
    await click(page, 'button', `Show record of ${records[1].item.title}`);
    await waitForText(page, '"_product_id": "1729000077012"');
    const { entries } = await env.api.operator('ListAuditEntries', { target: jobId });
    const actions: string[] = entries.map(({ action }: { action: string }) => action);
    // The list, the search, and the whole record.
    expect(actions.filter((action) => action === 'ListRecords')).toHaveLength(3);
    expect(actions.filter((action) => action === 'ExportRecords')).toHaveLength(1);
  });

  test('draws no failures for a job without any', async () => {
    const user = await createUser('Flawless Ltd', 1_000);
    const jobId = await submit(user, 60);
    await env.api.operator('ApproveJob', { job_id: jobId });
    await watchJob(env.api, user, jobId, 30_000);
    const page = await open(user.key, `/jobs/${jobId}`);
    await page.waitForSelector('[role=img][aria-label^="Progress over time"] .recharts-area');
    expect(await page.$$('.recharts-area')).toHaveLength(1);
    expect(await page.$eval('[role=img] .recharts-legend-wrapper', (legend) => legend.textContent)).toBe(
      'Succeeded',
    );
  });

  test('shows origins without requests as not used, without statistics', async () => {
    const page = await openAsOperator('/origins');
    await waitForText(page, 'Not used yet');
    const row = await page.$eval(
      '::-p-xpath(//tr[contains(., "Not used yet")])',
      (found) => found.textContent,
    );
    expect(row).toContain('No requests');
    expect(row).not.toMatch(/0 ms|0%|OK/);
  });

  test('approves a job with the keyboard alone', async () => {
    const user = await createUser('Keyboard Ltd', 1_000);
    const jobId = await submit(user, 5);
    const page = await openAsOperator('/approvals');
    await waitForText(page, 'Keyboard Ltd');
    await page.evaluate('document.activeElement.blur()');
    const focused = `(document.activeElement.closest('tr')?.innerText ?? '') + '|' + document.activeElement.innerText`;
    const reached: unknown[] = [];
    for (let presses = 0; presses < 60; presses += 1) {
      await page.keyboard.press('Tab');
      const now = String(await page.evaluate(focused));
      reached.push(now);
      if (now.includes('Keyboard Ltd') && now.endsWith('|Approve')) break;
    }
    expect(reached.at(-1)).toMatch(/Keyboard Ltd.*\|Approve$/s);
    expect(reached[0]).toContain('Skip to content');
    await page.keyboard.press('Enter');
    await waitForText(page, 'Job approved.');
    await watchJob(env.api, user, jobId, 30_000);
  });

  test('downloads the file of a job', async () => {
    const user = await createUser('Files Ltd', 1_000);
    const jobId = await submit(user, 20);
    await env.api.operator('ApproveJob', { job_id: jobId });
    const { download } = await watchJob(env.api, user, jobId, 30_000);
    const page = await open(user.key, `/jobs/${jobId}`, { downloads: folder });
    await click(page, 'button', `Download full_${jobId}.json`);
    const saved = await until(
      'the file is saved',
      () =>
        readFile(join(folder, `full_${jobId}.json`)).then((bytes) => (bytes.length > 0 ? bytes : undefined)),
      { withinMs: 15_000 },
    );
    const whole = Buffer.from(await (await fetch(download.download_url)).arrayBuffer());
    const digest = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');
    expect(digest(saved)).toBe(digest(whole));
    expect(JSON.parse(saved.toString())).toHaveLength(20);
  });

  test('downloads a file that requires the key of its owner', async () => {
    const user = await createUser('Listings Ltd', 1_000);
    const items = [{ keyword: 'kopi 101', product_limit: 5 }];
    const { body } = await env.api.post(user, '/v1/mktb/search/bulk/submit', { items });
    const file = await until(
      'the search ends',
      async () => (await env.api.get(user, `/v1/jobs/${body.job_id}/files`)).body.files?.[0],
      { withinMs: 30_000 },
    );
    expect((await fetch(file.download_url)).status).toBe(401);
    const page = await open(user.key, `/jobs/${body.job_id}`, { downloads: folder });
    await click(page, 'button', `Download ${file.name}`);
    const saved = await until(
      'the file is saved',
      () => readFile(join(folder, file.name)).then((bytes) => (bytes.length > 0 ? bytes : undefined)),
      { withinMs: 15_000 },
    );
    expect(createHash('sha256').update(saved).digest('hex')).toBe(file.sha256);
  });

  test("lets an operator download a user's file and logs it", async () => {
    const user = await createUser('Viewed Ltd', 1_000);
    const jobId = await submit(user, 3);
    await env.api.operator('ApproveJob', { job_id: jobId });
    await watchJob(env.api, user, jobId, 30_000);
    const tab = await openTab(browser, { downloads: folder });
    tabs.push(tab);
    await signIn(tab, `${env.url}/jobs/${jobId}?tab=results`, env.deployment.operatorKey);
    await click(tab.page, 'button', `Download full_${jobId}.json`);
    const saved = await until(
      'the file is saved',
      () => readFile(join(folder, `full_${jobId}.json`), 'utf8').then((text) => text || undefined),
      { withinMs: 15_000 },
    );
    expect(JSON.parse(saved)).toHaveLength(3);
    const entry = env.deployment.api
      .log()
      .split('\n')
      .find((line) => line.includes('file link created by operator') && line.includes(jobId));
    expect(JSON.parse(entry!)).toMatchObject({ userId: user.id, file: `full_${jobId}.json` });
  });

  test('keeps the tab of a job in the address', async () => {
    const user = await createUser('Tabs Ltd', 1_000);
    const jobId = await submit(user, 2);
    const page = await open(user.key, `/jobs/${jobId}`);
    await click(page, 'tab', 'Failures');
    await waitForText(page, 'No failures so far');
    expect(page.url()).toMatch(/\?tab=failures$/);
    await page.reload();
    await waitForText(page, 'No failures so far');
  });

  test('finds pages, users and jobs with Ctrl+K', async () => {
    const user = await createUser('Findable Ltd', 1_000);
    const jobId = await submit(user, 2);
    const page = await openAsOperator('/settings');
    const search = async (text: string) => {
      await page.keyboard.down('Control');
      await page.keyboard.press('k');
      await page.keyboard.up('Control');
      await page.locator(named('textbox', 'Search')).fill(text);
    };
    await search('findable');
    await page
      .locator('::-p-xpath(//button[contains(., "Findable Ltd") and not(contains(., "awaiting"))])')
      .wait();
    await waitForText(page, 'Variant sold on Marketplace A');
    await search(jobId);
    await waitForText(page, `Findable Ltd · ${jobId.slice(0, 8)}`);
    await page.locator(`::-p-xpath(//button[contains(., "${jobId.slice(0, 8)}")])`).click();
    await page.waitForFunction(`location.pathname.endsWith(${JSON.stringify(jobId)})`);
    await search('queues');
    await click(page, 'button', 'Queues and workers');
    await page.waitForFunction(`location.pathname.endsWith('/work')`);
  });

  test('sorts a table by a column', async () => {
    await createUser('Sorted Rich Ltd', 900_000);
    await createUser('Sorted Poor Ltd', 7);
    const page = await openAsOperator('/users?search=Sorted');
    await waitForText(page, 'Sorted Rich Ltd');
    const names = () =>
      page.$$eval('tbody tr td:first-child', (cells) => cells.map((cell) => cell.textContent));
    expect(await names()).toEqual(['Sorted Poor Ltd', 'Sorted Rich Ltd']);
    await click(page, 'button', 'Balance');
    await click(page, 'button', 'Balance');
    await page.waitForSelector('th[aria-sort=descending]');
    expect(await names()).toEqual(['Sorted Rich Ltd', 'Sorted Poor Ltd']);
  });

  test('shows at the bell what happened since the last visit', async () => {
    const user = await createUser('Away Ltd', 1_000);
    const page = await open(user.key, '/keys');
    await page.waitForSelector(named('button', 'Nothing new'));
    const jobId = await submit(user, 2);
    await env.api.operator('RejectJob', { job_id: jobId });
    await page.reload();
    await click(page, 'button', '1 new since your last visit');
    await waitForText(page, 'Variant sold on Marketplace A: rejected');
    await page.keyboard.press('Escape');
    await page.waitForSelector(named('button', 'Nothing new'));
  });

  test('exports the ledger as CSV', async () => {
    const user = await createUser('Ledger Ltd', 777);
    const page = await open(user.key, '/ledger', { downloads: folder });
    await waitForText(page, '+777');
    await click(page, 'button', 'Export');
    await click(page, 'menuitem', 'CSV');
    const text = await until(
      'the ledger is saved',
      () => readFile(join(folder, 'ledger.csv'), 'utf8').then((saved) => saved || undefined),
      { withinMs: 15_000 },
    );
    expect(text).toContain('777');
  });

  test('creates a key, shows it once and revokes it', async () => {
    const user = await createUser('Keys Ltd', 0);
    const page = await open(user.key, '/keys');
    await click(page, 'button', 'Create key');
    await page.locator(named('textbox', 'Name')).fill('second');
    await clickInDialog(page, 'Create');
    await waitForText(page, 'Copy the key now');
    const key = String(await page.evaluate(`document.querySelector('[data-testid=api-key]').innerText`));
    const account = (of: string) => env.api.get({ id: user.id, key: of }, '/v1/account');
    expect((await account(key)).status).toBe(200);
    await click(page, 'button', 'Done');
    await page.waitForFunction(`!document.body.innerHTML.includes(${JSON.stringify(key)})`);
    await click(page, 'button', 'Revoke second');
    await clickInDialog(page, 'Revoke');
    await waitForText(page, 'Key “second” revoked.');
    expect((await account(key)).status).toBe(401);
    expect((await account(user.key)).status).toBe(200);
  });

  test('creates a test key, and marks its session, keys, and jobs', async () => {
    const user = await createUser('Sandbox Ltd', 0);
    const page = await open(user.key, '/keys');
    await click(page, 'button', 'Create key');
    await page.locator(named('textbox', 'Name')).fill('tests');
    await page.locator(named('combobox', 'Mode')).fill('test');
    await clickInDialog(page, 'Create');
    await waitForText(page, 'Copy the key now');
    const key = String(await page.evaluate(`document.querySelector('[data-testid=api-key]').innerText`));
    expect(key).toMatch(/^gl_test_/);
    const tester = { id: user.id, key };
    const jobId = await submit(tester, 2);
    const test = await open(key, `/jobs/${jobId}`);
    await waitForText(test, 'Completed');
    const badges = await test.evaluate(
      `[...document.querySelectorAll('.mantine-Badge-label')].map((one) => one.innerText)`,
    );
    expect((badges as string[]).filter((text) => text.startsWith('Test')).sort()).toEqual([
      'Test',
      'Test data',
    ]);
    const operator = await openAsOperator('/jobs');
    await waitForText(operator, 'Live');
    expect(await bodyText(operator)).not.toContain(jobId.slice(0, 8));
    await operator.goto(`${env.url}/jobs?mode=test`);
    await waitForText(operator, jobId.slice(0, 8));
  });

  const ends = [
    { why: 'expired', lifeMs: 4_000 },
    { why: 'been revoked', lifeMs: null },
  ];
  test.each(ends)('ends the session of a key that has $why', async ({ why, lifeMs }) => {
    const { user } = await env.api.operator('CreateUser', { name: 'Short Ltd' });
    const made = await env.api.operator('CreateApiKey', {
      user_id: user.id,
      name: 'short',
      ...(lifeMs === null ? {} : { expires_at: new Date(Date.now() + lifeMs).toISOString() }),
    });
    const page = await open(made.apiKey, '/');
    if (lifeMs === null) await env.api.operator('RevokeApiKey', { key_id: made.keyId });
    await waitForText(page, 'You have been signed out', 40_000);
    await waitForText(page, `This API key has ${why}.`);
    expect(await page.evaluate('sessionStorage.length')).toBe(0);
    expect(await page.$('nav[aria-label=Pages]')).toBeNull();
  });

  test('submits by form and shows validation errors', async () => {
    const user = await createUser('Form Ltd', 1_000);
    const page = await open(user.key, '/submit/mkte/pdp_bulk');
    await page.locator(named('textbox', 'ASIN')).fill('short');
    await click(page, 'button', 'Submit');
    await waitForText(page, 'Must match');
    await waitForText(page, 'Required');
    await page.locator(named('textbox', 'ASIN')).fill('B0GLN01001');
    await page.locator('form select').fill('us');
    await click(page, 'button', 'Submit');
    await waitForText(page, '1 of 1', 30_000);
    expect(page.url()).toMatch(/\/console\/jobs\/[0-9a-f-]{36}$/);
  });

  test('shows the warnings of a submit: a region without an origin, and ignored fields', async () => {
    const user = await createUser('Warned Ltd', 1_000);
    const page = await open(user.key, '/submit/mkta/variant_sold');
    await click(page, 'tab', 'JSON');
    const body = { country: 'br', items: [{ item_id: '83000000001', shop_id: '7', colour: 'red' }] };
    await page.locator(named('textbox', 'Body')).fill(JSON.stringify(body));
    await click(page, 'button', 'Submit');
    await waitForText(page, 'No origin is configured for mkta/br.');
    await waitForText(page, 'Unknown fields were ignored: items[].colour');
    await waitForText(page, 'Awaiting approval');
  });

  test('fills rows from a pasted list and shows a missing country once, at its field', async () => {
    const user = await createUser('Pasted Ltd', 1_000);
    const page = await open(user.key, '/submit/mkta/variant_sold');
    await page.waitForSelector(named('textbox', 'Item ID'));
    await page.evaluate(`(() => {
      const input = [...document.querySelectorAll('fieldset input')][0];
      const clipboardData = new DataTransfer();
      clipboardData.setData('text', '82000000001\\t7\\n82000000002\\t7\\n82000000003\\t7');
      input.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }));
    })()`);
    await click(page, 'button', 'Submit 3 units');
    await waitForText(page, 'Required');
    await waitForText(page, '30 credits (10 credits per unit). Balance after: 970.');
    expect(await page.$$('.mantine-InputWrapper-error')).toHaveLength(1);
    await page.locator('form select').fill('sg');
    await click(page, 'button', 'Submit 3 units');
    await waitForText(page, 'Awaiting approval');
    const { jobs } = (await env.api.get(user, '/v1/jobs')).body;
    expect(jobs).toMatchObject([{ total: 3, region: 'sg' }]);
  });

  test('submits the rows of a CSV file and names invalid lines', async () => {
    const user = await createUser('Rows Ltd', 1_000);
    const page = await open(user.key, '/submit/mktd/pdp_bulk');
    await click(page, 'tab', 'CSV file');
    const drop = async (text: string) => {
      const transfer = `(() => {
        const data = new DataTransfer();
        data.items.add(new File([${JSON.stringify(text)}], 'rows.csv', { type: 'text/csv' }));
        const input = document.querySelector('input[type=file]');
        input.files = data.files;
        input.dispatchEvent(new Event('change', { bubbles: true }));
      })()`;
      await page.waitForSelector('input[type=file]');
      await page.evaluate(transfer);
    };
    await drop('product_id,country\n1729000000001,sg\n1729000000002,xx\n');
    await waitForText(page, 'Line 3, country');
    await drop('country,product_id\nsg,1729000000001\nmy,1729000000003\n');
    await click(page, 'button', 'Submit 2 units');
    await waitForText(page, '2 of 2', 30_000);
  });

  test('shows the quote of a form before it is submitted', async () => {
    const user = await createUser('Quoted Ltd', 13);
    const page = await open(user.key, '/submit/mkta/get_pc');
    await page.locator('select').fill('th');
    await page.locator(named('textbox', 'Item ID')).fill('32000000001');
    await page.locator(named('textbox', 'Shop ID')).fill('7003');
    await waitForText(page, '1 unit for 8 credits (8 per unit). Balance after: 5.');
    await waitForText(page, 'Takes about 1 s without other jobs.');
    expect((await env.api.get(user, '/v1/jobs')).body.jobs).toEqual([]);
    expect((await env.api.get(user, '/v1/account')).body.account.balance).toBe(13);
  });

  test('shows the problems of each row of an uploaded file before it is submitted, then its quote', async () => {
    const user = await createUser('Uploaded Ltd', 10);
    const page = await open(user.key, '/submit/mkta/get_pc_bulk');
    const drop = async (...rows: string[]) => {
      await page.waitForSelector('input[type=file]');
      await page.evaluate(`(() => {
        const data = new DataTransfer();
        data.items.add(new File([${JSON.stringify(['region,shop_id,item_id', ...rows].join('\n'))}], 'rows.csv'));
        const input = document.querySelector('input[type=file]');
        input.files = data.files;
        input.dispatchEvent(new Event('change', { bubbles: true }));
      })()`);
    };
    await drop('sg,7,x', 'sg,7,20101', 'xx,7,20101');
    await waitForText(page, 'This request would be refused');
    await waitForText(page, 'file.1.item_id: "x" is not an id');
    await waitForText(page, 'file.3.region: "xx" is not one of');
    await drop('sg,7,20101', 'sg,7,20101');
    await waitForText(page, 'One unit is the same as an earlier one.');
    await waitForText(page, 'The work costs 16 credits, the account has 10: 6 short.');
    expect((await env.api.get(user, '/v1/jobs')).body.jobs).toEqual([]);
  });

  test('shows the quote of a form before it is submitted', async () => {
    const user = await createUser('Quoted Ltd', 13);
    const page = await open(user.key, '/submit/mkta/get_pc');
    await page.locator('select').fill('th');
    await page.locator(named('textbox', 'Item ID')).fill('32000000001');
    await page.locator(named('textbox', 'Shop ID')).fill('7003');
    await waitForText(page, '1 unit for 8 credits (8 per unit). Balance after: 5.');
    await waitForText(page, 'Takes about 1 s without other jobs.');
    expect((await env.api.get(user, '/v1/jobs')).body.jobs).toEqual([]);
    expect((await env.api.get(user, '/v1/account')).body.account.balance).toBe(13);
  });

  test('repeats a request by a schedule, and starts a run of it', async () => {
    const user = await createUser('Scheduled Ltd', 20);
    const page = await open(user.key, '/submit/mkta/get_pc');
    await page.locator('select').fill('th');
    await page.locator(named('textbox', 'Item ID')).fill('32000000001');
    await page.locator(named('textbox', 'Shop ID')).fill('7003');
    await click(page, 'button', 'Schedule');
    const replace = async (name: string, text: string) => {
      await page.locator(named('textbox', name)).click({ count: 3 });
      await page.keyboard.type(text);
    };
    await replace('Name', 'Every leap day');
    await replace('Cron expression', '0 8 30 2 *');
    await waitForText(page, '"0 8 30 2 *" has no time');
    await replace('Cron expression', '0 8 29 2 *');
    await waitForText(page, '2032');
    await click(page, 'button', 'Create schedule');
    await waitForText(page, 'The first run starts at the next time.');
    await click(page, 'button', 'Run now');
    await waitForText(page, 'Started by you');
    await waitForText(page, 'Completed', 30_000);
    const { jobs } = (await env.api.get(user, '/v1/jobs')).body;
    expect(jobs.map(({ kind, status }: Record<string, string>) => [kind, status])).toEqual([
      ['get_pc', 'completed'],
    ]);
    expect((await env.api.get(user, '/v1/schedules')).body.schedules).toMatchObject([
      { name: 'Every leap day', cron: '0 8 29 2 *', credits_spent: 8 },
    ]);
  });

  test('shows the problems of each row of an uploaded file before it is submitted, then its quote', async () => {
    const user = await createUser('Uploaded Ltd', 10);
    const page = await open(user.key, '/submit/mkta/get_pc_bulk');
    const drop = async (...rows: string[]) => {
      await page.waitForSelector('input[type=file]');
      await page.evaluate(`(() => {
        const data = new DataTransfer();
        data.items.add(new File([${JSON.stringify(['region,shop_id,item_id', ...rows].join('\n'))}], 'rows.csv'));
        const input = document.querySelector('input[type=file]');
        input.files = data.files;
        input.dispatchEvent(new Event('change', { bubbles: true }));
      })()`);
    };
    await drop('sg,7,x', 'sg,7,20101', 'xx,7,20101');
    await waitForText(page, 'This request would be refused');
    await waitForText(page, 'file.1.item_id: "x" is not an id');
    await waitForText(page, 'file.3.region: "xx" is not one of');
    await drop('sg,7,20101', 'sg,7,20101');
    await waitForText(page, 'One unit is the same as an earlier one.');
    await waitForText(page, 'The work costs 16 credits, the account has 10: 6 short.');
    expect((await env.api.get(user, '/v1/jobs')).body.jobs).toEqual([]);
  });

  test('shows the shortfall of a rejected submit', async () => {
    const user = await createUser('Empty Ltd', 3);
    const page = await open(user.key, '/submit/mkta/get_pc');
    await page.locator('select').fill('th');
    await page.locator(named('textbox', 'Item ID')).fill('32000000001');
    await page.locator(named('textbox', 'Shop ID')).fill('7003');
    await waitForText(page, '5 more than your balance.');
    await click(page, 'button', 'Submit');
    await waitForText(page, 'Job not submitted');
    await waitForText(page, '5 short');
  });

  test('sets a webhook and shows the delivery of a test message', async () => {
    const user = await createUser('Hooked Ltd', 0);
    const page = await open(user.key, '/webhook');
    await page.locator(named('textbox', 'Endpoint URL')).fill('ftp://example.test');
    await click(page, 'button', 'Save');
    await waitForText(page, 'Enter an http or https URL.');
    await page.locator(named('textbox', 'Endpoint URL')).fill(env.receiver.url);
    await click(page, 'button', 'Save');
    await waitForText(page, 'Webhook saved.');
    const before = env.receiver.messages.length;
    await click(page, 'button', 'Send test message');
    await waitForText(page, 'Delivered');
    expect(env.receiver.messages.slice(before).map(({ type }) => type)).toContain('test');
  });

  test('sends operators a test message and lists it', async () => {
    const page = await openAsOperator('/deliveries');
    await click(page, 'button', 'Send test message');
    await waitForText(page, 'Test message');
    await page.waitForSelector('::-p-xpath(//tr[contains(., "Test message") and contains(., "Delivered")])');
  });

  test('retries failed units in a new job and cancels it', async () => {
    const user = await createUser('Again Ltd', 1_000);
    const items = ['81000000800', '81000001800', '81000000813', '81000000001'].map((id) => ({
      item_id: id,
      shop_id: '7',
    }));
    const { body } = await env.api.post(user, '/v1/mkta/variant_sold_v1/submit', { country: 'sg', items });
    await env.api.operator('ApproveJob', { job_id: body.job_id });
    await watchJob(env.api, user, body.job_id, 30_000);
    const page = await open(user.key, `/jobs/${body.job_id}`);
    await click(page, 'tab', 'Failures');
    await waitForText(page, 'Not found');
    await waitForText(page, 'The marketplace has no such item, shop or listing.');
    await waitForText(page, 'A retry leaves these units out: they would fail again.');
    await click(page, 'button', 'Retry failed units');
    await waitForText(page, 'a new job with the 1 unit that failed, for 10 credits.');
    await waitForText(page, '2 units would fail again and are left out.');
    await clickInDialog(page, 'Retry');
    await waitForText(page, '1 of 3 failed units are retried.');
    await waitForText(page, 'Retry of');
    await click(page, 'button', 'Cancel job');
    await clickInDialog(page, 'Cancel job');
    await waitForText(page, 'Rejected');
  });

  test('works through a separate gateway process', async () => {
    const user = await createUser('Remote Ltd', 1_000);
    await submit(user, 5);
    const { settings, grpc, operatorKey } = env.deployment;
    const port = String(await freePort());
    const gateway = createServiceProcess({
      role: 'gateway',
      environment: { ...settings, GLEANER_HTTP_PORT: port, GLEANER_CORE_URL: grpc },
    });
    await gateway.start();
    try {
      const tab = await openTab(browser);
      tabs.push(tab);
      await signIn(tab, `http://127.0.0.1:${port}/console/approvals`, operatorKey);
      await clickInRow(tab.page, 'Remote Ltd', 'Approve');
      await waitForText(tab.page, 'Job approved.');
    } finally {
      await gateway.stop();
    }
  });

  test('reports an unreachable service and recovers', async () => {
    const user = await createUser('Patient Ltd', 1_000);
    await submit(user, 5);
    const tab = await openTab(browser);
    await signIn(tab, `${env.url}/jobs`, user.key);
    await waitForText(tab.page, 'Awaiting approval');
    await tab.page.setOfflineMode(true);
    await waitForText(tab.page, 'This data may be out of date', 30_000);
    await waitForText(tab.page, 'Cannot reach the service');
    await tab.page.setOfflineMode(false);
    await click(tab.page, 'button', 'Try again');
    await tab.page.waitForFunction(`!document.body.innerText.includes('out of date')`);
    await tab.close();
  });

  test('creates an operator and a key, rotates the key and revokes the old one', async () => {
    const page = await openAsOperator('/operators');
    await click(page, 'button', 'Create operator');
    await page.locator(named('textbox', 'Name')).fill('Maria');
    await clickInDialog(page, 'Create operator');
    const createKey = async () => {
      await clickInDialog(page, 'Create');
      await waitForText(page, 'Copy the key now');
      const key = String(await page.evaluate(`document.querySelector('[data-testid=api-key]').innerText`));
      await click(page, 'button', 'Done');
      return key;
    };
    await click(page, 'button', 'Create key for Maria');
    await page.locator(named('textbox', 'Name')).fill('laptop');
    const old = await createKey();
    await click(page, 'button', 'Rotate laptop');
    const replacement = await createKey();
    const list = async (key: string) => {
      const response = await fetch(
        `${env.deployment.url}/gleaner.operator.v1.OperatorService/ListOperators`,
        {
          method: 'POST',
          headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
          body: '{}',
        },
      );
      return response.status;
    };
    expect([await list(old), await list(replacement)]).toEqual([200, 200]);
    const rows =
      '::-p-xpath(//section[@aria-label="Maria"]//tr[contains(., "laptop")]//button[. = "Revoke"])';
    await page.waitForFunction(
      `document.querySelectorAll('section[aria-label=Maria] [aria-label="Revoke laptop"]').length === 2`,
    );
    await (await page.$$(rows)).at(-1)!.click();
    await clickInDialog(page, 'Revoke');
    await waitForText(page, 'Key “laptop” revoked.');
    expect([await list(old), await list(replacement)]).toEqual([401, 200]);
  });

  test('creates a user, adds credits and suspends the user', async () => {
    const page = await openAsOperator('/users');
    await click(page, 'button', 'Create user');
    await page.locator(named('textbox', 'Name')).fill('Made Here Ltd');
    await clickInDialog(page, 'Create user');
    await waitForText(page, '0 credits');
    await click(page, 'button', 'Adjust credits');
    await page.locator(named('textbox', 'Credits to add')).fill('1234');
    await clickInDialog(page, 'Adjust credits');
    await waitForText(page, '1,234 credits');
    await click(page, 'button', 'Suspend');
    await clickInDialog(page, 'Suspend');
    await waitForText(page, 'API keys are rejected.');
    const { users } = await env.api.operator('ListUsers', { search: 'Made Here' });
    expect(users).toMatchObject([{ balance: '1234', suspended: true }]);
  });
});
