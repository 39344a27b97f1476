import type { Page } from 'puppeteer-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { chromium, skipped } from '../browser/chromium.ts';
import { useConsole } from './suite.ts';
import { click, clickInDialog, fill, named, waitForText } from './tab.ts';

describe.skipIf('missing' in chromium)(`permissions in the console${skipped}`, () => {
  const suite = useConsole();
  let operatorId: string;
  let userId: string;
  beforeAll(async () => {
    operatorId = (await suite.env.api.operator('CreateOperator', { name: 'Vera' })).operator.id;
    userId = (await suite.env.api.createUser(100)).id;
  });

  /** Signs in with a new key and opens a page. */
  const openWith = async (key: object, path: string): Promise<Page> => {
    const { apiKey } = await suite.env.api.operator('CreateApiKey', { name: 'test', ...key });
    return suite.open(apiKey, path);
  };
  /** Returns the tooltip of a disabled button. */
  const reasonOf = async (page: Page, button: string): Promise<string> => {
    const found = await page.waitForSelector(named('button', button));
    expect(await found!.evaluate((element) => element.getAttribute('aria-disabled'))).toBe('true');
    await found!.hover();
    const tooltip = await page.waitForSelector('[role=tooltip]');
    return tooltip!.evaluate((element) => element.textContent ?? '');
  };

  test("a viewer's buttons are disabled with the reason, and approvers may decide", async () => {
    const reason = (role: string, has: string) =>
      `This call needs an operator key with the role '${role}'; this key has the role '${has}'.`;
    const viewer = await openWith({ user_id: operatorId, operator_role: 'viewer' }, '/users');
    expect(await reasonOf(viewer, 'Create user')).toBe(reason('admin', 'viewer'));
    await click(viewer, 'button', 'Create user');
    expect(await viewer.$('[role=dialog]')).toBeNull();
    const approver = await openWith(
      { user_id: operatorId, operator_role: 'approver' },
      `/users/${userId}`,
    );
    expect(await reasonOf(approver, 'Adjust credits')).toBe(reason('admin', 'approver'));
  });

  test('a disabled button keeps the focus while its reason is shown, and Escape hides it', async () => {
    const page = await openWith({ user_id: operatorId, operator_role: 'viewer' }, '/users');
    const button = await page.waitForSelector(named('button', 'Create user'));
    await button!.focus();
    await page.waitForSelector('[role=tooltip]');
    expect(await button!.evaluate((element) => element.matches(':focus'))).toBe(true);
    await page.keyboard.press('Escape');
    await page.waitForSelector('[role=tooltip]', { hidden: true });
  });

  test('a viewer does not see the records of a job', async () => {
    const { apiKey } = await suite.env.api.operator('CreateApiKey', {
      user_id: userId,
      name: 'submits',
    });
    const user = { id: userId, key: apiKey };
    const items = [{ product_id: '1729000077011', country: 'th' }];
    const { body } = await suite.env.api.post(user, '/v1/mktd/pdp/bulk/submit', { items });
    await suite.env.api.get(user, `/v1/jobs/${body.job_id}?wait=30`);
    const viewer = { user_id: operatorId, operator_role: 'viewer' };
    const page = await openWith(viewer, `/jobs/${body.job_id}?tab=results`);
    await waitForText(page, "This call needs an operator key with the role 'approver'");
    await waitForText(page, '0 of 1 records have missing or wrong fields');
    expect(await page.$(named('textbox', 'Search'))).toBeNull();
    const { entries } = await suite.env.api.operator('ListAuditEntries', { target: body.job_id });
    expect(entries.filter(({ action }: { action: string }) => action === 'ListRecords')).toEqual(
      [],
    );
  });

  test('a read-only key may neither create keys nor submit', async () => {
    const page = await openWith({ user_id: userId, scopes: ['read'] }, '/keys');
    expect(await reasonOf(page, 'Create key')).toContain(
      "needs a key with the scopes 'read' and 'submit'",
    );
    await page.goto(`${suite.env.url}/submit/mkta/variant_sold`);
    expect(await reasonOf(page, 'Submit')).toBe(
      "This call needs a key with the scope 'submit'; this key has 'read'.",
    );
  });

  test('creates a key with scopes and a credit ceiling', async () => {
    const page = await openWith({ user_id: userId }, '/keys');
    await click(page, 'button', 'Create key');
    await fill(page, 'textbox', 'Name', 'limited');
    await click(page, 'checkbox', 'Read jobs and results');
    await fill(page, 'textbox', 'Credit ceiling', '50');
    await clickInDialog(page, 'Create');
    await waitForText(page, 'Copy the key now');
    const { keys } = await suite.env.api.operator('ListApiKeys', { user_id: userId });
    const created = keys.find((key: { name: string }) => key.name === 'limited');
    expect(created).toMatchObject({ scopes: ['submit'], creditCeiling: '50' });
    await click(page, 'button', 'Done');
    await waitForText(page, '0 of 50 credits');
  });

  test('the audit log shows refused calls and filters by outcome', async () => {
    const key = { user_id: operatorId, operator_role: 'viewer' };
    const { apiKey } = await suite.env.api.operator('CreateApiKey', { name: 'refused', ...key });
    const refused = await fetch(
      `${suite.env.deployment.url}/gleaner.operator.v1.OperatorService/SuspendUser`,
      {
        method: 'POST',
        headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
        body: JSON.stringify({ user_id: userId, suspended: true }),
      },
    );
    expect(refused.status).toBe(403);
    const page = await openWith({ user_id: operatorId, operator_role: 'viewer' }, '/audit');
    const table = `document.querySelector('table')?.innerText`;
    await page.waitForFunction(`${table}?.includes('Create operator')`);
    await fill(page, 'combobox', 'Outcome', 'forbidden');
    await page.waitForFunction(`${table} && !${table}.includes('Create operator')`);
    const text = await page.$eval('table', (table) => table.textContent);
    expect(text).toContain('Suspend user');
    expect(text).toContain('Vera');
  });
});
