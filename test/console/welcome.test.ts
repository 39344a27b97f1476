import type { Page } from 'puppeteer-core';
import { describe, expect, test } from 'vitest';
import { chromium, skipped } from '../browser/chromium.ts';
import { useConsole } from './suite.ts';
import { click, clickInDialog, fill, named, waitForLoaded, waitForText } from './tab.ts';

/** Titles of the actions of a card, those that are done with a mark. */
const actionsOf = (page: Page, card: string) =>
  page.evaluate(`[...document.querySelectorAll('section[aria-label="${card}"] li')].map((item) =>
    (item.innerText.startsWith('Done') ? 'Done: ' : '') + item.querySelector('div > p').innerText)`);

describe.skipIf('missing' in chromium)(`the first steps in the console${skipped}`, () => {
  const suite = useConsole();
  const { createUser, open, openAsOperator } = suite;

  const openOverview = async (page: Page) => {
    await page.goto(suite.env.url);
    await waitForText(page, 'Usage');
    await waitForLoaded(page);
  };

  test('lead a new user from an example over a list to a schedule', async () => {
    const user = await createUser('Newcomer Ltd', 100);
    const page = await open(user.key, '/');
    await waitForText(page, 'Get started');
    expect(await actionsOf(page, 'Get started')).toEqual([
      'Run an example',
      'Bring a list',
      'Get it every day',
    ]);

    await click(page, 'button', 'Run an example');
    await page.waitForFunction(`/\\/jobs\\/[0-9a-f-]{36}$/.test(location.pathname)`);
    await page.waitForSelector(named('note', 'Test data'));
    await openOverview(page);
    expect(await actionsOf(page, 'Get started')).toEqual([
      'Done: Run an example',
      'Bring a list',
      'Get it every day',
    ]);

    await click(page, 'link', 'Enter a list');
    await waitForText(page, '3 units in the list');
    await click(page, 'button', 'Submit 3 units');
    await page.waitForFunction(`/\\/jobs\\/[0-9a-f-]{36}$/.test(location.pathname)`);
    await openOverview(page);
    expect(await actionsOf(page, 'Get started')).toEqual([
      'Done: Run an example',
      'Done: Bring a list',
      'Get it every day',
    ]);

    await click(page, 'link', 'Create a schedule');
    await waitForText(page, '3 units in the list');
    await click(page, 'button', 'Schedule');
    await fill(page, 'textbox', 'Name', 'Every day');
    await clickInDialog(page, 'Create schedule');
    await page.waitForFunction(`location.pathname.includes('/schedules/')`);
    await openOverview(page);
    expect(await actionsOf(page, 'Get started')).toEqual([]);
  });

  test('can be dismissed', async () => {
    const user = await createUser('Expert Ltd', 100);
    const page = await open(user.key, '/');
    await waitForText(page, 'Get started');
    await click(page, 'button', 'Dismiss');
    const scripts: string[] = [];
    page.on('request', (request) => scripts.push(request.url()));
    await openOverview(page);
    expect(await actionsOf(page, 'Get started')).toEqual([]);
    expect(scripts.some((url) => url.includes('UserOverview'))).toBe(true);
    expect(scripts.filter((url) => url.includes('Welcome'))).toEqual([]);
  });

  test('show an operator what the set-up lacks, until it is dismissed', async () => {
    const page = await openAsOperator('/');
    await waitForText(page, 'Finish the set-up');
    expect(await actionsOf(page, 'Finish the set-up')).toEqual([
      'Back up the data',
      'Set the address that users open',
    ]);
    await waitForText(page, 'Set GLEANER_BACKUP_TO to a folder on another disk, or a bucket.');
    const links = `[...document.querySelectorAll('section[aria-label="Finish the set-up"] a')].map((link) => link.pathname + link.hash)`;
    expect(await page.evaluate(links)).toEqual([
      '/docs/guide/backups#scheduled-backups',
      '/docs/guide/operate#behind-a-reverse-proxy',
    ]);
    await click(page, 'button', 'Dismiss');
    await page.reload();
    await waitForText(page, 'Latest failed jobs');
    expect(await actionsOf(page, 'Finish the set-up')).toEqual([]);
  });
});
