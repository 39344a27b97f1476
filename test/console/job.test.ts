import { describe, expect, test } from 'vitest';
import { chromium, skipped } from '../browser/chromium.ts';
import { watchJob } from '../support/service/api.ts';
import { bodyText, useConsole } from './suite.ts';
import { click, clickInDialog, fill, waitForText } from './tab.ts';

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

  test('says who decides on a job that awaits approval, until when, and what it costs', async () => {
    const user = await createUser('Undecided Ltd', 1_000);
    const jobId = await submit(user, 6);
    const page = await open(user.key, `/jobs/${jobId}`);
    await waitForText(page, 'An operator of this service decides on this job.');
    await waitForText(page, 'Without a decision it is rejected in 2');
    await waitForText(page, 'An approval charges 60 credits of a balance of 1,000.');
    expect(await bodyText(page)).not.toContain('Run again');
    await click(page, 'tab', 'Results');
    await waitForText(page, 'The job has not started.');
  });

  test('says that records follow while a job runs', async () => {
    const user = await createUser('Running Ltd', 1_000);
    // The site blocks requests for this item, in a region that no other test uses.
    const items = [{ product_id: '1729000079807', country: 'ph' }];
    const { body } = await suite.env.api.post(user, '/v1/mktd/pdp/bulk/submit', { items });
    const page = await open(user.key, `/jobs/${body.job_id}?tab=results`);
    await waitForText(page, 'Records appear as pages are read.');
    expect(await bodyText(page)).not.toContain('No matching records');
    await suite.env.api.post(user, `/v1/jobs/${body.job_id}/cancel`, {});
  });

  test('counts what was collected, and marks a completed job with failures', async () => {
    const user = await createUser('Amber Ltd', 1_000);
    const items = ['83000001001', '83000001801'].map((item_id) => ({ item_id, shop_id: '7' }));
    const { body } = await suite.env.api.post(user, '/v1/mkta/variant_sold_v1/submit', {
      country: 'sg',
      items,
    });
    await suite.env.api.operator('ApproveJob', { job_id: body.job_id });
    const job = await suite.env.api.get(user, `/v1/jobs/${body.job_id}?wait=30`);
    expect(job.body).toMatchObject({ status: 'completed', success: 1, failed: 1 });
    const page = await open(user.key, `/jobs/${body.job_id}`);
    await waitForText(page, '1 of 2 collected, 1 failed');
    const color = await page.$eval('[aria-label=Summary] .mantine-Badge-root', (badge) =>
      badge.getAttribute('style'),
    );
    expect(color).toContain('yellow');
    await waitForText(page, 'Completed with failures');
    await page.goto(`${suite.env.url}/jobs?status=completed`);
    await waitForText(page, 'Completed with failures');
  });

  test('shows the fields that are filled less often than in the last run', async () => {
    const user = await createUser('Fill Ltd', 1_000);
    const run = async (digits: string) => {
      const items = [{ product_id: `1729000078${digits}`, country: 'my' }];
      const { body } = await suite.env.api.post(user, '/v1/mktd/pdp/bulk/submit?track=fill', {
        items,
      });
      await suite.env.api.get(user, `/v1/jobs/${body.job_id}?wait=30`);
      const { fields } = (await suite.env.api.get(user, `/v1/jobs/${body.job_id}/quality`)).body;
      return { id: body.job_id as string, fields: fields as { name: string; percent: number }[] };
    };
    // The fields of the fake marketplace depend on the id of an item.
    let last = await run('011');
    for (const digits of ['012', '013', '014', '015', '016', '017', '018', '019', '020', '021']) {
      const next = await run(digits);
      const percentOf = (name: string) =>
        last.fields.find((field) => field.name === name)?.percent ?? 0;
      const dropped = next.fields.find(
        ({ name, percent }) => percent === 0 && percentOf(name) === 100,
      );
      if (dropped !== undefined) {
        const page = await open(user.key, `/jobs/${next.id}`);
        await waitForText(page, 'Fields filled less often than in the last run');
        await waitForText(page, `${dropped.name}: 0%, last run 100%`);
        return;
      }
      last = next;
    }
    throw new Error('no job has a field less than the one before');
  });

  test('tells the first read of a tracked item from its changes', async () => {
    const user = await createUser('First read Ltd', 1_000);
    const items = [{ product_id: '1729000079011', country: 'th' }];
    const path = '/v1/mktd/pdp/bulk/submit';
    const untracked = (await suite.env.api.post(user, path, { items })).body.job_id;
    const tracked = (await suite.env.api.post(user, `${path}?track=first`, { items })).body.job_id;
    for (const jobId of [untracked, tracked])
      await suite.env.api.get(user, `/v1/jobs/${jobId}?wait=30`);
    const page = await open(user.key, `/jobs/${untracked}?tab=changes`);
    await waitForText(page, 'This job is not tracked');
    await page.goto(`${suite.env.url}/jobs/${tracked}?tab=changes`);
    await waitForText(page, '1 new, 0 changed');
    await page.goto(`${suite.env.url}/history/mktd/th/1729000079011`);
    await waitForText(page, 'First read');
  });

  test('draws no failures for a job without any', async () => {
    const user = await createUser('Flawless Ltd', 1_000);
    const jobId = await submit(user, 60);
    await suite.env.api.operator('ApproveJob', { job_id: jobId });
    await watchJob(suite.env.api, user, jobId, 30_000);
    const page = await open(user.key, `/jobs/${jobId}?tab=details`);
    await page.waitForSelector('[role=img][aria-label^="Progress over time"] .recharts-area');
    expect(await page.$$('.recharts-area')).toHaveLength(1);
    expect(
      await page.$eval('[role=img] .recharts-legend-wrapper', (legend) => legend.textContent),
    ).toBe('Succeeded');
  });

  test('shows the final status of the units when a job ends', async () => {
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

  test('shares the file of a job with anyone, and its page with a reader', async () => {
    const user = await createUser('Share Ltd', 1_000);
    const items = [{ product_id: '1729000077011', country: 'th' }];
    const { body } = await suite.env.api.post(user, '/v1/mktd/pdp/bulk/submit', { items });
    await suite.env.api.get(user, `/v1/jobs/${body.job_id}?wait=30`);
    const page = await open(user.key, `/jobs/${body.job_id}`);
    await click(page, 'button', 'More actions');
    await click(page, 'menuitem', 'Share results');
    const shownIn = async (label: string) => {
      const region = await page.waitForSelector(`[aria-label="${label}"]`);
      return region!.evaluate(({ textContent }) => textContent);
    };
    const records = await fetch(await shownIn('Link to the records'));
    expect([records.status, records.headers.get('content-type')]).toEqual([
      200,
      expect.stringMatching(/^text\/csv/),
    ]);
    expect(await shownIn('Link to this page')).toBe(page.url().split('?', 1)[0]);
  });

  test('runs a job again with its request, and shows it as a command', async () => {
    const user = await createUser('Repeat Ltd', 1_000);
    const items = [{ product_id: '1729000077011' }, { product_id: '1729000077012' }].map(
      (item) => ({
        ...item,
        country: 'th',
      }),
    );
    const { body } = await suite.env.api.post(
      user,
      '/v1/mktd/pdp/bulk/submit?max_credits=900&name=Weekly+prices',
      { items },
    );
    await suite.env.api.get(user, `/v1/jobs/${body.job_id}?wait=30`);
    const page = await open(user.key, `/jobs/${body.job_id}`);
    await waitForText(page, 'Weekly prices');
    await click(page, 'button', 'More actions');
    await click(page, 'menuitem', 'Copy as curl');
    await waitForText(page, '/v1/mktd/pdp/bulk/submit?name=Weekly+prices&max_credits=900');
    await waitForText(page, '{"product_id":"1729000077012","country":"th"}');
    await page.keyboard.press('Escape');
    await click(page, 'button', 'Run again');
    await waitForText(page, 'Options (2 set)');
    await click(page, 'button', 'Submit 2 units');
    await waitForText(page, 'Job submitted');
    await page.waitForFunction(`/jobs\\/[0-9a-f-]{36}$/.test(location.pathname)`);
    const { jobs } = (await suite.env.api.get(user, '/v1/jobs')).body;
    expect(jobs).toHaveLength(2);
    const { units } = (await suite.env.api.get(user, `/v1/jobs/${jobs[0].job_id}/units`)).body;
    expect(units.map(({ input }: { input: object }) => input)).toEqual(items);
    expect(jobs[0].options).toEqual({ name: 'Weekly prices', max_credits: 900 });
  });

  test('is found by its name', async () => {
    const user = await createUser('Named Ltd', 1_000);
    for (const query of ['?name=Weekly+prices', '?name=Stock', ''])
      await suite.env.api.post(user, `/v1/mktd/pdp/bulk/submit${query}`, {
        items: [{ product_id: '1729000077013', country: 'th' }],
      });
    const page = await open(user.key, '/jobs');
    await waitForText(page, 'Product page bulk on TikTok Shop, 1 unit');
    await fill(page, 'textbox', 'Search', 'PRICES');
    await page.waitForFunction(
      `location.search === '?search=PRICES' && !document.body.innerText.includes('Stock')`,
    );
    await waitForText(page, 'Weekly prices');
    await page.reload();
    await waitForText(page, 'Weekly prices');
    await page.goto(`${suite.env.url}/keys`);
    await waitForText(page, 'Create key');
    await page.keyboard.down('Control');
    await page.keyboard.press('k');
    await page.keyboard.up('Control');
    await fill(page, 'textbox', 'Search', 'weekly');
    await waitForText(page, 'Weekly prices');
  });

  test('deletes the files of a job from its menu', async () => {
    const user = await createUser('Tidy Ltd', 1_000);
    const jobId = await submit(user, 2);
    await suite.env.api.operator('ApproveJob', { job_id: jobId });
    await watchJob(suite.env.api, user, jobId, 30_000);
    const page = await open(user.key, `/jobs/${jobId}`);
    await click(page, 'button', 'More actions');
    await click(page, 'menuitem', 'Delete files');
    await clickInDialog(page, 'Delete files');
    await waitForText(page, 'Results deleted');
  });

  test('rereads the kept pages of a job, and shows what changed', async () => {
    const user = await createUser('Mended Ltd', 1_000);
    const items = [{ product_id: '1729000000001', country: 'th' }];
    const { body } = await suite.env.api.post(user, '/v1/mktd/pdp/bulk/submit?keep_pages=2d', {
      items,
    });
    await suite.env.api.get(user, `/v1/jobs/${body.job_id}?wait=60s`);
    const page = await open(user.key, `/jobs/${body.job_id}?tab=details`);
    await waitForText(page, 'Kept pages');
    await click(page, 'button', 'Reread pages');
    await clickInDialog(page, 'Reread pages');
    await waitForText(page, 'Reread of');
    await waitForText(page, 'Completed');
    await click(page, 'tab', 'Details');
    await waitForText(page, 'Differences from the first job');
    await waitForText(page, '0 gained, 0 changed, 0 lost, 1 equal');
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
