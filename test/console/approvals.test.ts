import { describe, expect, test } from 'vitest';
import { chromium, skipped } from '../browser/chromium.ts';
import { freePort } from '../support/servers/ports.ts';
import { watchJob } from '../support/service/api.ts';
import { createServiceProcess } from '../support/service/service.ts';
import { useConsole } from './suite.ts';
import { click, clickInDialog, clickInRow, fill, signIn, waitForText } from './tab.ts';

describe.skipIf('missing' in chromium)(`the approvals page${skipped}`, () => {
  const suite = useConsole();
  const { createUser, open, openAsOperator, openEmptyTab, submit } = suite;

  test('approves a job and follows it until it ends', async () => {
    const user = await createUser('Approved Ltd', 5_000);
    const jobId = await submit(user, 120);
    const page = await openAsOperator('/approvals');
    await clickInRow(page, 'Approved Ltd', 'View units');
    await waitForText(page, '120 units, by Approved Ltd');
    await page.keyboard.press('Escape');
    await clickInRow(page, 'Approved Ltd', 'Approve');
    await waitForText(page, 'Job approved.');
    await page.goto(`${suite.env.url}/jobs/${jobId}`);
    await waitForText(page, '120 of 120', 30_000);
    await waitForText(page, 'Completed');
    expect(await suite.env.api.balance(user)).toBe(5_000 - 1_200);
  });

  test('says that the approval of a run covers the later runs of its schedule', async () => {
    const user = await createUser('Nightly Ltd', 1_000);
    const { body } = await suite.env.api.post(user, '/v1/schedules', {
      name: 'Each night',
      market: 'mkta',
      kind: 'variant_sold',
      cron: '@yearly',
      request: { country: 'id', items: [{ item_id: '20000000777', shop_id: '7001' }] },
    });
    await suite.env.api.post(user, `/v1/schedules/${body.schedule_id}/run`, {});
    const page = await openAsOperator('/approvals');
    await waitForText(page, 'An approval covers its later runs that cost no more.');
    await clickInRow(page, 'Nightly Ltd', 'Reject');
    await clickInDialog(page, 'Reject');
    await waitForText(page, 'Job rejected.');
  });

  test('shows a shortfall at its job and approves the other selected jobs', async () => {
    const poor = await createUser('Poor Ltd', 100);
    const waiting = await submit(poor, 10);
    const rich = await createUser('Rich Ltd', 100);
    const started = await submit(rich, 10);
    await suite.env.api.operator('GrantCredits', { user_id: poor.id, amount: -60 });
    const page = await openAsOperator('/approvals');
    await waitForText(page, 'Insufficient');
    await page.locator(`::-p-xpath(//tr[contains(., "Poor Ltd")]//input)`).click();
    await page.locator(`::-p-xpath(//tr[contains(., "Rich Ltd")]//input)`).click();
    await click(page, 'button', 'Approve 2');
    await waitForText(page, 'Approval failed');
    await waitForText(page, '60');
    const status = async (jobId: string) =>
      (await suite.env.api.operatorJobs('GetJob', { job_id: jobId })).status;
    expect(await status(waiting)).toBe('awaiting_approval');
    expect(await status(started)).not.toBe('awaiting_approval');
    await suite.env.api.operator('RejectJob', { job_id: waiting });
  });

  test('rejects a job with a reason that its user sees', async () => {
    const user = await createUser('Rejected Ltd', 1_000);
    const jobId = await submit(user, 5);
    const page = await openAsOperator('/approvals');
    await clickInRow(page, 'Rejected Ltd', 'Reject');
    await fill(page, 'textbox', 'Reason', 'These items are sold out.');
    await clickInDialog(page, 'Reject');
    await waitForText(page, 'Job rejected.');
    const own = await open(user.key, `/jobs/${jobId}`);
    await waitForText(own, 'These items are sold out.');
    expect(await suite.env.api.balance(user)).toBe(1_000);
  });

  test('approves a job with the keyboard alone', async () => {
    const user = await createUser('Keyboard Ltd', 1_000);
    const jobId = await submit(user, 5);
    const page = await openAsOperator('/approvals');
    await waitForText(page, 'Keyboard Ltd');
    await page.evaluate('document.activeElement.blur()');
    const focused = `(document.activeElement.closest('tr')?.innerText ?? '') + '|' + document.activeElement.innerText`;
    const reached: unknown[] = [];
    // Other jobs may be listed first.
    const stops = (await page.$$('a, button, input, select')).length;
    for (let presses = 0; presses < stops; presses += 1) {
      await page.keyboard.press('Tab');
      const now = String(await page.evaluate(focused));
      reached.push(now);
      if (now.includes('Keyboard Ltd') && now.endsWith('|Approve')) break;
    }
    expect(reached.at(-1)).toMatch(/Keyboard Ltd.*\|Approve$/s);
    expect(reached[0]).toContain('Skip to content');
    await page.keyboard.press('Enter');
    await waitForText(page, 'Job approved.');
    await watchJob(suite.env.api, user, jobId, 30_000);
  });

  test('works through a separate gateway process', async () => {
    const user = await createUser('Remote Ltd', 1_000);
    await submit(user, 5);
    const { settings, grpc, operatorKey } = suite.env.deployment;
    const port = String(await freePort());
    const gateway = createServiceProcess({
      role: 'gateway',
      environment: { ...settings, GLEANER_HTTP_PORT: port, GLEANER_CORE_URL: grpc },
    });
    await gateway.start();
    try {
      const tab = await openEmptyTab();
      await signIn(tab, `http://127.0.0.1:${port}/console/approvals`, operatorKey);
      await clickInRow(tab.page, 'Remote Ltd', 'Approve');
      await waitForText(tab.page, 'Job approved.');
    } finally {
      await gateway.stop();
    }
  });
});
