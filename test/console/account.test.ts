import { describe, expect, test } from 'vitest';
import { chromium, skipped } from '../browser/chromium.ts';
import { bodyText, useConsole } from './suite.ts';
import { click, clickInDialog, fill, waitForText } from './tab.ts';

describe.skipIf('missing' in chromium)(`the pages of an account${skipped}`, () => {
  const suite = useConsole();
  const { createUser, open, openAsOperator, readDownload, submit } = suite;

  test('exports the ledger as CSV', async () => {
    const user = await createUser('Ledger Ltd', 777);
    const page = await open(user.key, '/ledger');
    await waitForText(page, '+777');
    await click(page, 'button', 'Export');
    await click(page, 'menuitem', 'CSV');
    const text = (await readDownload('ledger.csv')).toString();
    expect(text).toContain('777');
  });

  test('creates a key, shows it once and revokes it', async () => {
    const user = await createUser('Keys Ltd', 0);
    const page = await open(user.key, '/keys');
    await click(page, 'button', 'Create key');
    await fill(page, 'textbox', 'Name', 'second');
    await clickInDialog(page, 'Create');
    await waitForText(page, 'Copy the key now');
    const key = String(
      await page.evaluate(`document.querySelector('[data-testid=api-key]').innerText`),
    );
    const account = (of: string) => suite.env.api.get({ id: user.id, key: of }, '/v1/account');
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
    await fill(page, 'textbox', 'Name', 'tests');
    await fill(page, 'combobox', 'Mode', 'test');
    await clickInDialog(page, 'Create');
    await waitForText(page, 'Copy the key now');
    const key = String(
      await page.evaluate(`document.querySelector('[data-testid=api-key]').innerText`),
    );
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
    expect(await bodyText(operator)).not.toContain('Sandbox Ltd');
    await operator.goto(`${suite.env.url}/jobs?mode=test`);
    await waitForText(operator, 'Sandbox Ltd');
  });

  test('sets a webhook and shows the delivery of a test message', async () => {
    const user = await createUser('Hooked Ltd', 0);
    const page = await open(user.key, '/webhook');
    await click(page, 'button', 'Save');
    await waitForText(page, 'Enter an http or https URL.');
    await fill(page, 'textbox', 'Endpoint URL', 'ftp://example.test');
    await click(page, 'button', 'Save');
    await waitForText(page, 'Enter an http or https URL.');
    await fill(page, 'textbox', 'Endpoint URL', suite.env.receiver.url);
    await click(page, 'button', 'Save');
    await waitForText(page, 'Webhook saved.');
    const before = suite.env.receiver.messages.length;
    await click(page, 'button', 'Send test message');
    await waitForText(page, 'Delivered');
    expect(suite.env.receiver.messages.slice(before).map(({ type }) => type)).toContain('test');
  });
});
