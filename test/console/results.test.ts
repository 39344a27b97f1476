import { createHash } from 'node:crypto';
import type { Page } from 'puppeteer-core';
import { describe, expect, test } from 'vitest';
import { chromium, skipped } from '../browser/chromium.ts';
import { watchJob } from '../support/service/api.ts';
import { until } from '../support/time/until.ts';
import { bodyText, useConsole } from './suite.ts';
import { click, fill, waitForText } from './tab.ts';

/** A record as the service lists it. */
interface ListedRecord {
  item: { id: string };
  unit_key: string;
}

/** Returns the texts of the columns with the given titles, by row. */
const columnsOf = (page: Page, titles: string[]) =>
  page.$eval(
    'table[aria-label=Records]',
    (table, shown) => {
      const rows = [...table.querySelectorAll('tr')].map(({ cells }) => [...cells]);
      const heads = rows[0]!.map(({ textContent }) => textContent?.trim() ?? '');
      const places = shown.map((title) => heads.indexOf(title));
      return rows.slice(1).map((cells) => places.map((place) => cells[place]?.textContent));
    },
    titles,
  );

describe.skipIf('missing' in chromium)(`the results of a job${skipped}`, () => {
  const suite = useConsole();
  const { createUser, open, openAsOperator, readDownload, submit } = suite;

  test('shows the record of a single-page job with a download', async () => {
    const user = await createUser('Single Ltd', 1_000);
    const request = { region: 'sg', item_id: '32000000001', shop_id: '7003' };
    const { body } = await suite.env.api.post(user, '/v1/mkta/get_pc/submit', request);
    const { jobs } = (await suite.env.api.get(user, '/v1/jobs')).body;
    expect(jobs).toMatchObject([{ task_id: body.task_id }]);
    const page = await open(user.key, `/jobs/${jobs[0].job_id}`);
    await click(page, 'button', 'Download record');
    const name = `${jobs[0].job_id}.json`;
    const saved = (await readDownload(name)).toString();
    const results = await fetch(`${suite.env.deployment.url}/v1/jobs/${jobs[0].job_id}/results`, {
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
    const { body } = await suite.env.api.post(user, '/v1/mktd/pdp/bulk/submit', { items });
    await suite.env.api.get(user, `/v1/jobs/${body.job_id}?wait=30`);
    const { records } = (await suite.env.api.get(user, `/v1/jobs/${body.job_id}/records`)).body;
    const [first, second, failed] = records;
    const page = await open(user.key, `/jobs/${body.job_id}?tab=results`);
    for (const shown of [first.item.title, second.item.title, failed.unit_key, 'page_not_found'])
      await waitForText(page, shown);
    const links = `[...document.querySelectorAll('main a[target=_blank]')].map(({ href, rel }) => href + ' ' + rel)`;
    expect(await page.evaluate(links)).toContain(`${first.item.url} noopener noreferrer`);

    await page.locator(`::-p-aria(Show record of ${first.item.title})`).click();
    await page.waitForSelector('[role=dialog] [role=group][aria-label=Item]');
    await waitForText(page, 'Download record');
    expect(page.url()).toContain('record=0.0');
    await page.reload();
    await page.waitForSelector('[role=dialog] [role=group][aria-label=Item]');
    await click(page, 'tab', 'JSON');
    await waitForText(page, '"_product_id": "1729000077011"');
    await page.keyboard.press('Escape');
    await page.waitForFunction(`!location.search.includes('record=')`);
    await page.locator('label ::-p-text(Cards)').click();
    await page.waitForSelector('ul[aria-label=Records] > li');
    expect(page.url()).toContain('view=cards');
    await page.locator('label ::-p-text(Table)').click();
    // No picture of the fake marketplaces can be loaded.
    await page.waitForSelector('table[aria-label=Records]');
    await page.waitForFunction(
      `![...document.querySelectorAll('th')].some((cell) => cell.textContent === 'Picture')`,
    );

    await click(page, 'button', 'Columns');
    await waitForText(page, 'product.title');
    await page.keyboard.press('Escape');
    await fill(page, 'textbox', 'Search', second.item.title);
    await waitForText(page, '1 found');
    expect(await bodyText(page)).not.toContain('page_not_found');
    await click(page, 'button', 'Download');
    await click(page, 'menuitem', 'CSV');
    const saved = (await readDownload(`${body.job_id}.csv`)).toString();
    expect(saved).toMatch(/^unit_index,/);
    expect(saved).toContain(',1729000077012,');
    expect(saved).not.toContain(',1729000077011,');
    await click(page, 'button', 'Download');
    await click(page, 'menuitem', 'CSV, standard columns');
    const standard = (await readDownload(`${body.job_id}-standard.csv`)).toString();
    expect(standard).toMatch(/^id,url,title,/);
    await click(page, 'button', 'Download');
    await click(page, 'menuitem', 'CSV for Excel, standard columns');
    const forExcel = (await readDownload(`${body.job_id}-standard-excel.csv`)).toString();
    expect(forExcel).toBe(`\ufeff${standard}`);
  });

  test('keeps filters, order, and columns in the address', async () => {
    const user = await createUser('Address Ltd', 1_000);
    const items = ['011', '012', '800'].map((digits) => ({
      product_id: `1729000077${digits}`,
      country: 'th',
    }));
    const { body } = await suite.env.api.post(user, '/v1/mktd/pdp/bulk/submit', { items });
    await suite.env.api.get(user, `/v1/jobs/${body.job_id}?wait=30`);
    const page = await open(user.key, `/jobs/${body.job_id}?tab=results&view=cards`);
    await waitForText(page, '1729000077800');
    await page.locator('label ::-p-text(Table)').click();
    await fill(page, 'textbox', 'Value', '1');
    await click(page, 'button', 'Add filter');
    await waitForText(page, 'Price ≥ 1');
    await waitForText(page, '2 found');
    await click(page, 'button', 'Price');
    await click(page, 'button', 'Price');
    await page.waitForFunction(`location.search.includes('sort=-item.price')`);
    await click(page, 'button', 'Columns');
    await click(page, 'checkbox', 'product.title');
    await page.waitForFunction(`location.search.includes('column=product.title')`);
    await page.reload();
    await waitForText(page, 'product.title');
    await waitForText(page, 'Price ≥ 1');
    await waitForText(page, '2 found');
    expect(
      await page.$eval('th[aria-sort=descending]', ({ textContent }) => textContent),
    ).toContain('Price');
    await click(page, 'button', 'Remove Price ≥ 1');
    await waitForText(page, '1729000077800');
  });

  test("lets an operator search and export a user's records, and records each access", async () => {
    const user = await createUser('Inspected Ltd', 1_000);
    const items = ['011', '012'].map((digits) => ({
      product_id: `1729000077${digits}`,
      country: 'th',
    }));
    const { body } = await suite.env.api.post(user, '/v1/mktd/pdp/bulk/submit', { items });
    const jobId: string = body.job_id;
    await suite.env.api.get(user, `/v1/jobs/${jobId}?wait=30`);
    const { records } = (await suite.env.api.get(user, `/v1/jobs/${jobId}/records`)).body;
    const page = await openAsOperator(`/jobs/${jobId}?tab=results`);
    await waitForText(page, records[0].item.title);
    await waitForText(page, 'records have missing or wrong fields');
    await click(page, 'button', 'Columns');
    await waitForText(page, 'product.title');
    await page.keyboard.press('Escape');
    await fill(page, 'textbox', 'Search', records[1].item.title);
    await waitForText(page, '1 found');
    await click(page, 'button', 'Download');
    await click(page, 'menuitem', 'CSV');
    const saved = (await readDownload(`${jobId}.csv`)).toString();
    expect(saved).toContain(',1729000077012,');
    expect(saved).not.toContain(',1729000077011,');
    await click(page, 'button', `Show record of ${records[1].item.title}`);
    await click(page, 'tab', 'JSON');
    await waitForText(page, '"_product_id": "1729000077012"');
    const { entries } = await suite.env.api.operator('ListAuditEntries', { target: jobId });
    const listed = entries.filter(({ action }: { action: string }) => action === 'ListRecords');
    const requests = listed.map(({ detail }: { detail: string }) => JSON.parse(detail));
    // The list, the search, and the whole record. A slow input searches for parts of the text, too.
    expect(requests).toContainEqual({ job_id: jobId, column: ['unit_index'], page_size: 25 });
    expect(requests).toContainEqual(expect.objectContaining({ search: records[1].item.title }));
    expect(requests).toContainEqual({ job_id: jobId, unit_index: 1, position: 0 });
    expect(
      entries.filter(({ action }: { action: string }) => action === 'ExportRecords'),
    ).toHaveLength(1);
  });

  test('downloads the file of a job', async () => {
    const user = await createUser('Files Ltd', 1_000);
    const jobId = await submit(user, 20);
    await suite.env.api.operator('ApproveJob', { job_id: jobId });
    const { download } = await watchJob(suite.env.api, user, jobId, 30_000);
    const page = await open(user.key, `/jobs/${jobId}`);
    await click(page, 'button', `Download full_${jobId}.json`);
    const saved = await readDownload(`full_${jobId}.json`);
    const whole = Buffer.from(await (await fetch(download.download_url)).arrayBuffer());
    const digest = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');
    expect(digest(saved)).toBe(digest(whole));
    expect(JSON.parse(saved.toString())).toHaveLength(20);
  });

  test('shows the ids of the items of a listing, and its units', async () => {
    const user = await createUser('Ids Ltd', 1_000);
    const items = ['kopi 101', 'teh 102'].map((keyword) => ({ keyword, product_limit: 3 }));
    const { body } = await suite.env.api.post(user, '/v1/mktb/search/bulk/submit', { items });
    await suite.env.api.get(user, `/v1/jobs/${body.job_id}?wait=30`);
    const { records } = (await suite.env.api.get(user, `/v1/jobs/${body.job_id}/records`)).body;
    const expected = records.map(({ item, unit_key }: ListedRecord) => [item.id, unit_key]);
    expect(new Set(expected.map(([id]: string[]) => id)).size).toBe(6);
    const page = await open(user.key, `/jobs/${body.job_id}?tab=results`);
    await waitForText(page, records[5].item.title);
    expect(await columnsOf(page, ['ID', 'Unit'])).toEqual(expected);
    await click(page, 'button', 'ID');
    await page.waitForFunction(`location.search.includes('sort=item.id')`);
    const ids = expected.map(([id]: string[]) => id).sort();
    await page.waitForFunction(
      `document.querySelector('tbody tr')?.textContent.includes('${ids[0]}')`,
    );
  });

  test('downloads a file that requires the key of its owner', async () => {
    const user = await createUser('Listings Ltd', 1_000);
    const items = [{ keyword: 'kopi 101', product_limit: 5 }];
    const { body } = await suite.env.api.post(user, '/v1/mktb/search/bulk/submit', { items });
    const file = await until(
      'the search ends',
      async () => (await suite.env.api.get(user, `/v1/jobs/${body.job_id}/files`)).body.files?.[0],
      { withinMs: 30_000 },
    );
    expect((await fetch(file.download_url)).status).toBe(401);
    const page = await open(user.key, `/jobs/${body.job_id}`);
    await click(page, 'button', `Download ${file.name}`);
    const saved = await readDownload(file.name);
    expect(createHash('sha256').update(saved).digest('hex')).toBe(file.sha256);
  });

  test("lets an operator download a user's file and logs it", async () => {
    const user = await createUser('Viewed Ltd', 1_000);
    const jobId = await submit(user, 3);
    await suite.env.api.operator('ApproveJob', { job_id: jobId });
    await watchJob(suite.env.api, user, jobId, 30_000);
    const page = await openAsOperator(`/jobs/${jobId}?tab=results`);
    await click(page, 'button', `Download full_${jobId}.json`);
    const saved = (await readDownload(`full_${jobId}.json`)).toString();
    expect(JSON.parse(saved)).toHaveLength(3);
    const entry = suite.env.deployment.api
      .log()
      .split('\n')
      .find((line) => line.includes('file link created by operator') && line.includes(jobId));
    expect(JSON.parse(entry!)).toMatchObject({ userId: user.id, file: `full_${jobId}.json` });
  });
});
