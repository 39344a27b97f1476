import { describe, expect, test } from 'vitest';
import { chromium, skipped } from '../browser/chromium.ts';
import { until } from '../support/time/until.ts';
import { useConsole } from './suite.ts';
import { click, clickInDialog, fill, waitForText } from './tab.ts';

/** Field that the pages of marketplace C lose in these tests. */
const field = 'data.summary.price.price';

describe.skipIf('missing' in chromium)(`the pages of operators${skipped}`, () => {
  const suite = useConsole();
  const { createUser, openAsOperator } = suite;

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

  /** Waits until the service has statistics of the field, or with `all` false an alarm. */
  const untilListed = (all: boolean, read: () => Promise<unknown> = async () => {}) =>
    until(
      'the field is listed',
      async () => {
        await read();
        const { alarms = [] } = await suite.env.api.operator('ListDriftAlarms', { all });
        return alarms.some((alarm: { field: string }) => alarm.field === field) || undefined;
      },
      // Workers store their statistics every few seconds, of at most four pages per second.
      { withinMs: 60_000, everyMs: 500 },
    );

  test('shows drift in the overview, reads kept pages again, and accepts the drift', async () => {
    const user = await createUser('Drifting Ltd', 50_000);
    const ids = Array.from({ length: 60 }, (_, at) => `GLN-60077-${20_000 + at}`);
    const items = ids.map((id) => ({ formattedId: `ps--${id}`, sku: `${id}-00001` }));
    const read = async (query = '') => {
      const { body } = await suite.env.api.post(user, `/v1/mktc/pdp/bulk/submit${query}`, {
        items,
      });
      await suite.env.api.get(user, `/v1/jobs/${body.job_id}?wait=30`);
    };
    await read('?keep_pages=2d');
    await untilListed(true);
    const { marketplaces } = suite.env;
    for (const id of ids) marketplaces.changeItem('mktc', 'id', id, { priceFactor: 0 });
    await untilListed(false, read);
    for (const id of ids) marketplaces.changeItem('mktc', 'id', id, null);
    const page = await openAsOperator('/');
    const alarm = await page.waitForSelector(`::-p-xpath(//tr[contains(., "${field}")])`);
    expect(await alarm!.evaluate((row) => row.textContent)).toMatch(/100%\d{1,2}%/);
    await page.locator('::-p-aria(Read kept pages of Blibli again)').click();
    await clickInDialog(page, 'Read again');
    await waitForText(page, 'Reread of', 30_000);
    // The overview has no alarm to act on once the last one is accepted.
    const overview = await openAsOperator('/');
    await click(overview, 'button', `Accept ${field}`);
    await clickInDialog(overview, 'Accept');
    await waitForText(overview, 'Alarm cleared.');
    await suite.env.api.operator('AcceptDrift', { market: 'mktc', page: 'product' });
  }, 240_000);

  test('shows an origin in two lines on a phone', async () => {
    const page = await openAsOperator('/origins');
    await page.setViewport({ width: 390, height: 844 });
    const entry = await page.waitForSelector('::-p-xpath(//li[contains(., "Not used yet")])');
    const text = await entry!.evaluate(
      (found) => (found as unknown as { innerText: string }).innerText,
    );
    expect(text).toContain('No requests');
    expect(text).not.toMatch(/Limits|Last hour|Status/);
  });

  test('suggests the names of the operators and users of the audit log', async () => {
    const user = await createUser('Acting Ltd', 10);
    await suite.env.api.post(user, '/v1/account/keys', { name: 'suggested' });
    const page = await openAsOperator('/audit');
    await waitForText(page, 'Acting Ltd');
    const label = await page.$eval(`datalist option[value="${user.id}"]`, (option) =>
      option.getAttribute('label'),
    );
    expect(label).toBe('Acting Ltd');
  });

  test('tells users of the same name apart by the start of their ids', async () => {
    for (const balance of [1, 2]) await createUser('Same Ltd', balance);
    const page = await openAsOperator('/users?search=Same');
    await waitForText(page, 'Same Ltd');
    const names = await page.$$eval('tbody tr td:first-child', (cells) =>
      cells.map((cell) => cell.textContent),
    );
    expect(new Set(names).size).toBe(2);
    for (const name of names) expect(name).toMatch(/^Same Ltd [0-9a-f]{8}$/);
  });

  test('sorts a table by a column', async () => {
    await createUser('Sorted Rich Ltd', 900_000);
    await createUser('Sorted Poor Ltd', 7);
    const page = await openAsOperator('/users?search=Sorted');
    await waitForText(page, 'Sorted Rich Ltd');
    const names = () =>
      page.$$eval('tbody tr td:first-child a', (links) => links.map((link) => link.textContent));
    expect(await names()).toEqual(['Sorted Poor Ltd', 'Sorted Rich Ltd']);
    await click(page, 'button', 'Balance');
    await click(page, 'button', 'Balance');
    await page.waitForSelector('th[aria-sort=descending]');
    expect(await names()).toEqual(['Sorted Rich Ltd', 'Sorted Poor Ltd']);
  });

  test('sends operators a test message and lists it', async () => {
    const page = await openAsOperator('/deliveries');
    await click(page, 'button', 'Send test message');
    await waitForText(page, 'Test message');
    await page.waitForSelector(
      '::-p-xpath(//tr[contains(., "Test message") and contains(., "Delivered")])',
    );
  });

  test('creates an operator and a key, rotates the key and revokes the old one', async () => {
    const page = await openAsOperator('/operators');
    await click(page, 'button', 'Create operator');
    await fill(page, 'textbox', 'Name', 'Maria');
    await clickInDialog(page, 'Create operator');
    const createKey = async () => {
      await clickInDialog(page, 'Create');
      await waitForText(page, 'Copy the key now');
      const key = String(
        await page.evaluate(`document.querySelector('[data-testid=api-key]').innerText`),
      );
      await click(page, 'button', 'Done');
      return key;
    };
    await click(page, 'button', 'Create key for Maria');
    await fill(page, 'textbox', 'Name', 'laptop');
    const old = await createKey();
    await click(page, 'button', 'Rotate laptop');
    const replacement = await createKey();
    const list = async (key: string) => {
      const response = await fetch(
        `${suite.env.deployment.url}/gleaner.operator.v1.OperatorService/ListOperators`,
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
    await fill(page, 'textbox', 'Name', 'Made Here Ltd');
    await fill(page, 'textbox', 'Email address', 'made@@here');
    await clickInDialog(page, 'Create user');
    await page.waitForSelector('input[type=email][aria-invalid=true]');
    await fill(page, 'textbox', 'Email address', 'made@here.example');
    await clickInDialog(page, 'Create user');
    await waitForText(page, '0 credits');
    await click(page, 'button', 'Adjust credits');
    await fill(page, 'textbox', 'Credits to add', '1.5');
    await clickInDialog(page, 'Adjust credits');
    await waitForText(page, 'Enter a whole number other than 0.');
    await fill(page, 'textbox', 'Credits to add', '1234');
    await clickInDialog(page, 'Adjust credits');
    await waitForText(page, '1,234 credits');
    await click(page, 'button', 'Suspend');
    await clickInDialog(page, 'Suspend');
    await waitForText(page, 'API keys are rejected.');
    const { users } = await suite.env.api.operator('ListUsers', { search: 'Made Here' });
    expect(users).toMatchObject([{ balance: '1234', suspended: true }]);
  });
});
