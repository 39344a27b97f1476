import { describe, expect, test } from 'vitest';
import { chromium, skipped } from '../browser/chromium.ts';
import { useConsole } from './suite.ts';
import { click, named, openTab, signIn, waitForText } from './tab.ts';

describe.skipIf('missing' in chromium)(`the shell of the console${skipped}`, () => {
  const suite = useConsole();
  const { createUser, open, openAsOperator, openEmptyTab, submit } = suite;

  test('rejects an unknown key with the reason', async () => {
    const tab = await openEmptyTab();
    await tab.page.goto(suite.env.url);
    await tab.page.locator(named('textbox', 'API key')).fill('unknown');
    await click(tab.page, 'button', 'Sign in');
    await waitForText(tab.page, 'The API key is not valid.');
    expect(await tab.page.evaluate('sessionStorage.length')).toBe(0);
  });

  const ends = [
    { why: 'expired', lifeMs: 4_000 },
    { why: 'been revoked', lifeMs: null },
  ];
  test.each(ends)('ends the session of a key that has $why', async ({ why, lifeMs }) => {
    const { user } = await suite.env.api.operator('CreateUser', { name: 'Short Ltd' });
    const made = await suite.env.api.operator('CreateApiKey', {
      user_id: user.id,
      name: 'short',
      ...(lifeMs === null ? {} : { expires_at: new Date(Date.now() + lifeMs).toISOString() }),
    });
    const page = await open(made.apiKey, '/');
    if (lifeMs === null) await suite.env.api.operator('RevokeApiKey', { key_id: made.keyId });
    await waitForText(page, 'You have been signed out', 40_000);
    await waitForText(page, `The API key has ${why}.`);
    expect(await page.evaluate('sessionStorage.length')).toBe(0);
    expect(await page.$('nav[aria-label=Pages]')).toBeNull();
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
    // The results follow the text after a moment, and a click may hit another one as long as they move.
    await page.waitForFunction(`document.querySelectorAll('.mantine-Spotlight-action').length === 1`);
    await click(page, 'button', 'Queues and workers');
    await page.waitForFunction(`location.pathname.endsWith('/work')`);
  });

  test('shows at the bell what happened since the last visit', async () => {
    const user = await createUser('Away Ltd', 1_000);
    const page = await open(user.key, '/keys');
    await page.waitForSelector(named('button', 'Nothing new'));
    const jobId = await submit(user, 2);
    await suite.env.api.operator('RejectJob', { job_id: jobId });
    await page.reload();
    await click(page, 'button', '1 new since your last visit');
    await waitForText(page, 'Variant sold on Marketplace A: rejected');
    await page.keyboard.press('Escape');
    await page.waitForSelector(named('button', 'Nothing new'));
  });

  test('reports an unreachable service and recovers', async () => {
    const user = await createUser('Patient Ltd', 1_000);
    await submit(user, 5);
    // Its page reports each request that fails.
    const tab = await openTab(suite.browser);
    await signIn(tab, `${suite.env.url}/jobs`, user.key);
    await waitForText(tab.page, 'Awaiting approval');
    await tab.page.setOfflineMode(true);
    await waitForText(tab.page, 'This data may be out of date', 30_000);
    await waitForText(tab.page, 'Cannot reach the service');
    await tab.page.setOfflineMode(false);
    await click(tab.page, 'button', 'Try again');
    await tab.page.waitForFunction(`!document.body.innerText.includes('out of date')`);
    await tab.close();
  });
});
