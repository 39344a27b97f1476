import { describe, expect, test } from 'vitest';
import { chromium, skipped } from '../browser/chromium.ts';
import { watchJob } from '../support/api.ts';
import { bodyText, useConsole } from './suite.ts';
import { click, clickInDialog, waitForText } from './tab.ts';

describe.skipIf('missing' in chromium)(`the page of a job${skipped}`, () => {
  const suite = useConsole();
  const { createUser, open, submit } = suite;

  test('shows a rejected job as not run and not charged, without a result tab that leads nowhere', async () => {
    const user = await createUser('Not Run Ltd', 1_000);
    const jobId = await submit(user, 60);
    await suite.env.api.operator('RejectJob', { job_id: jobId });
    const page = await open(user.key, `/jobs/${jobId}`);
    await waitForText(page, 'Nothing charged');
    await waitForText(page, 'Not run');
    const text = await bodyText(page);
    expect(text).not.toContain('60 failed');
    expect(text).not.toContain('600 credits');
    await click(page, 'tab', 'Results');
    await waitForText(page, 'This job did not run.');
    await page.goto(`${suite.env.url}/jobs`);
    await waitForText(page, 'Rejected');
    expect(await bodyText(page)).not.toContain('failed');
  });

  test('draws no failures for a job without any', async () => {
    const user = await createUser('Flawless Ltd', 1_000);
    const jobId = await submit(user, 60);
    await suite.env.api.operator('ApproveJob', { job_id: jobId });
    await watchJob(suite.env.api, user, jobId, 30_000);
    const page = await open(user.key, `/jobs/${jobId}`);
    await page.waitForSelector('[role=img][aria-label^="Progress over time"] .recharts-area');
    expect(await page.$$('.recharts-area')).toHaveLength(1);
    expect(await page.$eval('[role=img] .recharts-legend-wrapper', (legend) => legend.textContent)).toBe(
      'Succeeded',
    );
  });

  test('shows what the units of a job came to when it ends', async () => {
    const user = await createUser('Ended Ltd', 1_000);
    const jobId = await submit(user, 2);
    const page = await open(user.key, `/jobs/${jobId}?tab=units`);
    await waitForText(page, 'Pending');
    await suite.env.api.operator('ApproveJob', { job_id: jobId });
    await waitForText(page, 'Completed');
    await page.waitForFunction(`!document.body.innerText.includes('Pending')`);
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

  test('retries failed units in a new job and cancels it', async () => {
    const user = await createUser('Again Ltd', 1_000);
    const items = ['81000000800', '81000001800', '81000000813', '81000000001'].map((id) => ({
      item_id: id,
      shop_id: '7',
    }));
    const { body } = await suite.env.api.post(user, '/v1/mkta/variant_sold_v1/submit', {
      country: 'sg',
      items,
    });
    await suite.env.api.operator('ApproveJob', { job_id: body.job_id });
    await watchJob(suite.env.api, user, body.job_id, 30_000);
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
});
