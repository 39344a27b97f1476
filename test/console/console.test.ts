import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser } from 'puppeteer-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { plainIds } from '../../sandbox/mkta/ids.ts';
import { chromium, skipped } from '../browser/chromium.ts';
import { freePort } from '../engines/nats.ts';
import { type TestUser, watchJob } from '../support/api.ts';
import { createService } from '../support/service.ts';
import { until } from '../support/until.ts';
import { openStage, type Stage } from './stage.ts';
import {
  click,
  clickInDialog,
  clickInRow,
  named,
  openBrowser,
  openTab,
  signIn,
  type Tab,
  type TabOptions,
  untilText,
} from './tab.ts';

describe.skipIf('missing' in chromium)(`the console${skipped}`, () => {
  let stage: Stage;
  let browser: Browser;
  let folder: string;
  const tabs: Tab[] = [];
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'gleaner-console-'));
    [stage, browser] = await Promise.all([openStage({ latencyMs: 20 }), openBrowser()]);
  });
  afterAll(async () => {
    await browser?.close();
    await stage?.stop();
    await rm(folder, { recursive: true, force: true });
  });
  afterEach(async () => {
    const troubles = tabs.flatMap((tab) => tab.troubles);
    for (const tab of tabs.splice(0)) await tab.close();
    expect(troubles).toEqual([]);
  });

  const open = async (key: string, path: string, options: TabOptions = {}) => {
    const tab = await openTab(browser, options);
    tabs.push(tab);
    await signIn(tab, stage.url + path, key);
    return tab.page;
  };
  const operate = (path: string) => open(stage.deployment.operatorKey, path);
  const createUser = async (name: string, credits: number): Promise<TestUser> => {
    const { user } = await stage.api.operator('CreateUser', { name });
    const { apiKey } = await stage.api.operator('CreateApiKey', { user_id: user.id, name: 'first' });
    if (credits > 0) await stage.api.operator('GrantCredits', { user_id: user.id, amount: credits });
    return { id: user.id, key: apiKey };
  };
  let first = 80_000_000_000;
  const submit = async (user: TestUser, count: number): Promise<string> => {
    first += 1_000_000;
    const items = plainIds(count, first).map((id) => ({ item_id: String(id), shop_id: '7' }));
    const answer = await stage.api.post(user, '/v1/mkta/variant_sold_v1/submit', { country: 'sg', items });
    expect(answer.status).toBe(202);
    return answer.body.job_id;
  };

  test('refuses a key that nobody has, with the reason', async () => {
    const tab = await openTab(browser);
    tabs.push(tab);
    await tab.page.goto(stage.url);
    await tab.page.locator(named('textbox', 'API key')).fill('nobodys');
    await click(tab.page, 'button', 'Sign in');
    await untilText(tab.page, 'The token is not valid.');
    expect(await tab.page.evaluate('sessionStorage.length')).toBe(0);
  });

  test('lets an operator approve a job and watch it to its end', async () => {
    const user = await createUser('Approved Ltd', 5_000);
    const jobId = await submit(user, 120);
    const page = await operate('/approvals');
    await clickInRow(page, 'Approved Ltd', 'Look');
    await untilText(page, '120 units of Approved Ltd');
    await page.keyboard.press('Escape');
    await clickInRow(page, 'Approved Ltd', 'Approve');
    await untilText(page, 'The job is approved.');
    await page.goto(`${stage.url}/jobs/${jobId}`);
    await untilText(page, '120 of 120', 30_000);
    await untilText(page, 'completed');
    expect(await stage.api.balance(user)).toBe(5_000 - 1_200);
  });

  test('shows the shortfall at its job, and approves the others that were chosen', async () => {
    const poor = await createUser('Poor Ltd', 100);
    const waiting = await submit(poor, 10);
    const rich = await createUser('Rich Ltd', 100);
    const started = await submit(rich, 10);
    await stage.api.operator('GrantCredits', { user_id: poor.id, amount: -60 });
    const page = await operate('/approvals');
    await untilText(page, 'too low');
    await page.locator(`::-p-xpath(//tr[contains(., "Poor Ltd")]//input)`).click();
    await page.locator(`::-p-xpath(//tr[contains(., "Rich Ltd")]//input)`).click();
    await click(page, 'button', 'Approve 2');
    await untilText(page, 'Not approved');
    await untilText(page, '60');
    const status = async (jobId: string) =>
      (await stage.api.operator('GetJob', { job_id: jobId })).job.status;
    expect(await status(waiting)).toBe('awaiting_approval');
    expect(await status(started)).not.toBe('awaiting_approval');
    await stage.api.operator('RejectJob', { job_id: waiting });
  });

  test('rejects a job with a reason that its user reads', async () => {
    const user = await createUser('Rejected Ltd', 1_000);
    const jobId = await submit(user, 5);
    const page = await operate('/approvals');
    await clickInRow(page, 'Rejected Ltd', 'Reject');
    await page.locator(named('textbox', 'Reason')).fill('These items are sold out.');
    await clickInDialog(page, 'Reject');
    await untilText(page, 'The job is rejected.');
    const own = await open(user.key, `/jobs/${jobId}`);
    await untilText(own, 'These items are sold out.');
    expect(await stage.api.balance(user)).toBe(1_000);
  });

  test('is of use by keyboard alone: the approve button is reached and pressed', async () => {
    const user = await createUser('Keyboard Ltd', 1_000);
    const jobId = await submit(user, 5);
    const page = await operate('/approvals');
    await untilText(page, 'Keyboard Ltd');
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
    expect(reached[0]).toContain('Skip to the content');
    await page.keyboard.press('Enter');
    await untilText(page, 'The job is approved.');
    await watchJob(stage.api, user, jobId, 30_000);
  });

  test('downloads the file of a job, whole', async () => {
    const user = await createUser('Files Ltd', 1_000);
    const jobId = await submit(user, 20);
    await stage.api.operator('ApproveJob', { job_id: jobId });
    const { download } = await watchJob(stage.api, user, jobId, 30_000);
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

  test('downloads a file that needs the key of its owner', async () => {
    const user = await createUser('Listings Ltd', 1_000);
    const items = [{ keyword: 'kopi 101', product_limit: 5 }];
    const { body } = await stage.api.post(user, '/v1/mktb/search/bulk/submit', { items });
    const file = await until(
      'the search ends',
      async () => (await stage.api.get(user, `/v1/jobs/${body.job_id}/files`)).body.files?.[0],
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

  test('takes the ledger along as CSV', async () => {
    const user = await createUser('Ledger Ltd', 777);
    const page = await open(user.key, '/ledger', { downloads: folder });
    await untilText(page, '+777');
    await click(page, 'button', 'Export');
    await click(page, 'menuitem', 'CSV');
    const text = await until(
      'the ledger is saved',
      () => readFile(join(folder, 'ledger.csv'), 'utf8').then((saved) => saved || undefined),
      { withinMs: 15_000 },
    );
    expect(text).toContain('777');
  });

  test('creates a key that works, shows it once, and revokes it', async () => {
    const user = await createUser('Keys Ltd', 0);
    const page = await open(user.key, '/keys');
    await click(page, 'button', 'New key');
    await page.locator(named('textbox', 'Name')).fill('second');
    await click(page, 'button', 'Create');
    await untilText(page, 'Copy it now');
    const key = String(await page.evaluate(`document.querySelector('[data-testid=api-key]').innerText`));
    const account = (of: string) => stage.api.get({ id: user.id, key: of }, '/v1/account');
    expect((await account(key)).status).toBe(200);
    await click(page, 'button', 'I have it');
    await page.waitForFunction(`!document.body.innerHTML.includes(${JSON.stringify(key)})`);
    await click(page, 'button', 'Revoke second');
    await clickInDialog(page, 'Revoke');
    await untilText(page, 'The key “second” is revoked.');
    expect((await account(key)).status).toBe(401);
    expect((await account(user.key)).status).toBe(200);
  });

  const ends = [
    { why: 'expired', lifeMs: 4_000 },
    { why: 'been revoked', lifeMs: null },
  ];
  test.each(ends)('ends the session of a key that has $why, and says so', async ({ why, lifeMs }) => {
    const { user } = await stage.api.operator('CreateUser', { name: 'Short Ltd' });
    const made = await stage.api.operator('CreateApiKey', {
      user_id: user.id,
      name: 'short',
      ...(lifeMs === null ? {} : { expires_at: new Date(Date.now() + lifeMs).toISOString() }),
    });
    const page = await open(made.apiKey, '/');
    if (lifeMs === null) await stage.api.operator('RevokeApiKey', { key_id: made.keyId });
    await untilText(page, 'You have been signed out', 40_000);
    await untilText(page, `The token has ${why}.`);
    expect(await page.evaluate('sessionStorage.length')).toBe(0);
    expect(await page.$('nav[aria-label=Pages]')).toBeNull();
  });

  test('submits by form, and names what the form has wrong', async () => {
    const user = await createUser('Form Ltd', 1_000);
    const page = await open(user.key, '/submit/mkte/pdp_bulk');
    await page.locator(named('textbox', 'asin')).fill('short');
    await click(page, 'button', 'Submit');
    await untilText(page, 'Must look like');
    await untilText(page, 'Must be given.');
    await page.locator(named('textbox', 'asin')).fill('B0GLN01001');
    await page.locator('fieldset select').fill('us');
    await click(page, 'button', 'Submit');
    await untilText(page, '1 of 1', 30_000);
    expect(page.url()).toMatch(/\/console\/jobs\/[0-9a-f-]{36}$/);
  });

  test('submits the rows of a CSV file, and names the lines that it refuses', async () => {
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
    await untilText(page, 'Line 3, country');
    await drop('country,product_id\nsg,1729000000001\nmy,1729000000003\n');
    await click(page, 'button', 'Submit 2');
    await untilText(page, '2 of 2', 30_000);
  });

  test('shows a refusal of a submit with its figures', async () => {
    const user = await createUser('Empty Ltd', 3);
    const page = await open(user.key, '/submit/mkta/get_pc');
    await page.locator('select').fill('th');
    await page.locator(named('textbox', 'item_id')).fill('32000000001');
    await page.locator(named('textbox', 'shop_id')).fill('7003');
    await click(page, 'button', 'Submit');
    await untilText(page, 'Not accepted');
    await untilText(page, '5 short');
  });

  test('sets a webhook, and shows that a test of it was delivered', async () => {
    const user = await createUser('Hooked Ltd', 0);
    const page = await open(user.key, '/webhook');
    await page.locator(named('textbox', 'Address')).fill('ftp://example.test');
    await click(page, 'button', 'Save');
    await untilText(page, 'Enter an http or https address.');
    await page.locator(named('textbox', 'Address')).fill(stage.receiver.url);
    await click(page, 'button', 'Save');
    await untilText(page, 'The webhook is saved.');
    const before = stage.receiver.messages.length;
    await click(page, 'button', 'Send a test');
    await untilText(page, 'delivered');
    expect(stage.receiver.messages.slice(before).map(({ type }) => type)).toContain('test');
  });

  test('sends operators a test message, and lists it', async () => {
    const page = await operate('/deliveries');
    await click(page, 'button', 'Send a test');
    await untilText(page, 'on their way');
    await page.waitForSelector('::-p-xpath(//tr[contains(., "test") and contains(., "delivered")])');
  });

  test('submits what failed again, and lets its user cancel it', async () => {
    const user = await createUser('Again Ltd', 1_000);
    const items = ['81000000800', '81000000001'].map((item_id) => ({ item_id, shop_id: '7' }));
    const { body } = await stage.api.post(user, '/v1/mkta/variant_sold_v1/submit', { country: 'sg', items });
    await stage.api.operator('ApproveJob', { job_id: body.job_id });
    await watchJob(stage.api, user, body.job_id, 30_000);
    const page = await open(user.key, `/jobs/${body.job_id}`);
    await click(page, 'tab', 'Failures');
    await untilText(page, 'page_not_found');
    await click(page, 'button', 'Retry what failed');
    await clickInDialog(page, 'Submit again');
    await untilText(page, 'Tries again what failed of');
    await click(page, 'button', 'Cancel');
    await clickInDialog(page, 'Cancel the job');
    await untilText(page, 'rejected');
  });

  test('is the same behind a gateway of its own, in front of a core elsewhere', async () => {
    const user = await createUser('Remote Ltd', 1_000);
    await submit(user, 5);
    const { settings, grpc, operatorKey } = stage.deployment;
    const port = String(await freePort());
    const gateway = createService({
      role: 'gateway',
      environment: { ...settings, GLEANER_HTTP_PORT: port, GLEANER_CORE_URL: grpc },
    });
    await gateway.start();
    try {
      const tab = await openTab(browser);
      tabs.push(tab);
      await signIn(tab, `http://127.0.0.1:${port}/console/approvals`, operatorKey);
      await clickInRow(tab.page, 'Remote Ltd', 'Approve');
      await untilText(tab.page, 'The job is approved.');
    } finally {
      await gateway.stop();
    }
  });

  test('says that the service cannot be reached, and goes on once it can', async () => {
    const user = await createUser('Patient Ltd', 1_000);
    await submit(user, 5);
    const tab = await openTab(browser);
    await signIn(tab, `${stage.url}/jobs`, user.key);
    await untilText(tab.page, 'awaiting approval');
    await tab.page.setOfflineMode(true);
    await untilText(tab.page, 'What is shown is not fresh', 30_000);
    await untilText(tab.page, 'cannot be reached');
    await tab.page.setOfflineMode(false);
    await click(tab.page, 'button', 'Try again');
    await tab.page.waitForFunction(`!document.body.innerText.includes('not fresh')`);
    await tab.close();
  });

  test('makes a user, gives credits and suspends', async () => {
    const page = await operate('/users');
    await click(page, 'button', 'New user');
    await page.locator(named('textbox', 'Name')).fill('Made Here Ltd');
    await click(page, 'button', 'Create');
    await untilText(page, '0 credits');
    await click(page, 'button', 'Credits');
    await page.locator(named('textbox', 'Credits to add')).fill('1234');
    await click(page, 'button', 'Add');
    await untilText(page, '1,234 credits');
    await click(page, 'button', 'Suspend');
    await clickInDialog(page, 'Suspend');
    await untilText(page, 'All keys of this user are refused.');
    const { users } = await stage.api.operator('ListUsers', { search: 'Made Here' });
    expect(users).toMatchObject([{ balance: '1234', suspended: true }]);
  });
});
