import type { Page } from 'puppeteer-core';
import { describe, expect, test } from 'vitest';
import { plainIds } from '../../sandbox/mkta/ids.ts';
import { chromium, skipped } from '../browser/chromium.ts';
import type { TestUser } from '../support/service/api.ts';
import { brokenRule } from '../support/service/hold.ts';
import { until } from '../support/time/until.ts';
import { runVariants } from './held-job.ts';
import { useConsole } from './suite.ts';
import { click, clickInDialog, clickInRow, fill, named, waitForText } from './tab.ts';

describe.skipIf('missing' in chromium)(`destinations in the console${skipped}`, () => {
  const suite = useConsole();
  const { open, openAsOperator } = suite;
  const timeout = 120_000;
  const enter = (page: Page, name: string, text: string) => fill(page, 'textbox', name, text);
  const destinationsOf = async (user: TestUser) =>
    (await suite.env.api.get(user, '/v1/destinations')).body.destinations;
  const request = (count: number) => ({
    country: 'sg',
    items: plainIds(count, 81_000_000_000).map((id) => ({ item_id: String(id), shop_id: '7' })),
  });
  const createInbox = async (user: TestUser) => {
    const settings = { name: 'inbox', type: 'https', url: suite.env.receiver.filesUrl };
    expect((await suite.env.api.post(user, '/v1/destinations', settings)).status).toBe(201);
  };
  const fileOf = (jobId: string) =>
    [...suite.env.receiver.files].find(([path]) => path.includes(jobId));

  test('creates a destination that accepts the test object, tests, changes, and deletes it', {
    timeout,
  }, async () => {
    const user = await suite.env.api.createUser(100);
    const page = await open(user.key, '/destinations');
    await waitForText(page, 'No destinations yet');
    await click(page, 'button', 'Create destination');
    await fill(page, 'combobox', 'Type', 'https');
    await enter(page, 'Name', 'inbox');
    await enter(page, 'URL', suite.env.receiver.refusingUrl);
    await click(page, 'button', 'Add header');
    await enter(page, 'Name of header 1', 'Authorization');
    await enter(page, 'Value of header 1', 'Bearer secret-of-inbox');
    await clickInDialog(page, 'Test and create');
    await waitForText(page, 'Cannot write a test object');
    await waitForText(page, 'Fix the highlighted fields.');
    expect(await destinationsOf(user)).toEqual([]);

    await enter(page, 'URL', suite.env.receiver.filesUrl);
    await clickInDialog(page, 'Test and create');
    await waitForText(page, 'Destination created.');
    await waitForText(page, suite.env.receiver.filesUrl);
    expect(await destinationsOf(user)).toMatchObject([
      { name: 'inbox', type: 'https', format: 'json', header_names: ['authorization'] },
    ]);
    expect(await page.content()).not.toContain('secret-of-inbox');

    await clickInRow(page, 'inbox', 'Test');
    await waitForText(page, 'Test object written to');

    await clickInRow(page, 'inbox', 'Edit');
    await waitForText(page, 'Stored: authorization.');
    await fill(page, 'combobox', 'Format', 'csv');
    await clickInDialog(page, 'Test and save');
    await waitForText(page, 'Destination changed.');
    expect(await destinationsOf(user)).toMatchObject([
      { format: 'csv', header_names: ['authorization'] },
    ]);

    await clickInRow(page, 'inbox', 'Delete');
    await clickInDialog(page, 'Delete destination');
    await waitForText(page, 'No destinations yet');
    expect(await destinationsOf(user)).toEqual([]);
  });

  test('a key that can only read sees destinations and cannot change them', async () => {
    const user = await suite.env.api.createUser(100);
    await createInbox(user);
    const key = { user_id: user.id, name: 'reader', scopes: ['read'] };
    const { apiKey } = await suite.env.api.operator('CreateApiKey', key);
    const page = await open(apiKey, '/destinations');
    await waitForText(page, 'inbox');
    for (const name of ['Create destination', 'Test inbox', 'Edit inbox', 'Delete inbox']) {
      const button = await page.waitForSelector(named('button', name));
      expect(await button!.evaluate((element) => element.getAttribute('aria-disabled'))).toBe(
        'true',
      );
    }
  });

  test('submits with options, quotes with them, and releases the held deliveries', {
    timeout,
  }, async () => {
    const user = await suite.env.api.createUser(5_000);
    await createInbox(user);
    const rule = await brokenRule(
      suite.env.api,
      user,
      await runVariants(suite.env, user, request(40)),
    );

    const page = await open(user.key, '/submit/mkta/variant_sold?tab=json');
    await fill(page, 'textbox', 'Body', JSON.stringify(request(40)));
    // Puppeteer sets a long text without an event that React notices.
    await page.keyboard.type(' ');
    await click(page, 'button', 'Options');
    await page.locator('::-p-aria(Deliver to)').click();
    await click(page, 'option', 'inbox');
    await page.keyboard.press('Tab');
    await click(page, 'button', 'Add field');
    await waitForText(page, 'Enter a field and a percentage in each row.');
    await enter(page, 'Field 1', 'cost');
    await waitForText(page, 'is not a field of the records');
    await enter(page, 'Field 1', rule.slice(0, rule.lastIndexOf(':')));
    await waitForText(page, 'Options (2 set)');
    // A number input moves the caret after it got the focus, so that typed digits would join the
    // old ones.
    await page.focus(named('textbox', 'Percent 1'));
    for (let percent = 95; percent < 100; percent++) await page.keyboard.press('ArrowUp');
    await click(page, 'button', 'Submit 40 units');
    await page.waitForFunction(`location.pathname.startsWith('/console/jobs/')`);
    const jobId = new URL(page.url()).pathname.split('/').at(-1)!;
    await suite.env.api.operator('ApproveJob', { job_id: jobId });
    await waitForText(page, 'Deliveries held', 30_000);
    await waitForText(page, 'minimum 100%');
    // The tab that is shown first depends on whether the job was approved by then.
    await click(page, 'tab', 'Results');
    await waitForText(page, 'of 40 records have missing or wrong fields');
    expect(fileOf(jobId)).toBeUndefined();

    await click(page, 'button', 'Release');
    await waitForText(page, 'Deliveries released');
    const [path] = await until('the file arrives', async () => fileOf(jobId), {
      withinMs: 30_000,
      everyMs: 100,
    });
    await page.goto(`${suite.env.url}/webhook`);
    await waitForText(page, 'Result file');
    await waitForText(page, path);
    await waitForText(page, `Job ${jobId.slice(0, 8)}`);
  });

  test('discards held deliveries after a confirmation, which operators cannot', {
    timeout,
  }, async () => {
    const user = await suite.env.api.createUser(5_000);
    await createInbox(user);
    const rule = await brokenRule(
      suite.env.api,
      user,
      await runVariants(suite.env, user, request(40)),
    );
    const jobId = await runVariants(
      suite.env,
      user,
      request(40),
      `?deliver_to=inbox&hold=${encodeURIComponent(rule)}`,
    );
    const operator = await openAsOperator(`/jobs/${jobId}`);
    await waitForText(operator, 'The owner of the job decides.');
    expect(await operator.$(named('button', 'Discard'))).toBeNull();

    const page = await open(user.key, `/jobs/${jobId}`);
    await click(page, 'button', 'Discard');
    await clickInDialog(page, 'Discard deliveries');
    await waitForText(page, 'Deliveries discarded');
    expect((await suite.env.api.get(user, `/v1/jobs/${jobId}`)).body.hold.state).toBe('discarded');
    expect(fileOf(jobId)).toBeUndefined();
  });
});
