import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { comments } from '../../gen/comments.ts';
import { chromium, skipped } from '../browser/chromium.ts';
import { root } from '../support/service/service.ts';
import { useConsole } from './suite.ts';
import { click, fill, named, openTab, signIn, waitForText } from './tab.ts';

describe.skipIf('missing' in chromium)(`the shell of the console${skipped}`, () => {
  const suite = useConsole();
  const { createUser, open, openAsOperator, openEmptyTab, submit } = suite;

  test('has no file with the comments of the whole contract', async () => {
    const files = await readdir(join(root, 'console/dist/assets'));
    const texts = await Promise.all(
      files.map((name) => readFile(join(root, 'console/dist/assets', name), 'utf8')),
    );
    const comment = comments['gleaner.account.v1.Account.balance']!;
    expect(comment).toBeTruthy();
    expect(files.filter((_, index) => texts[index]!.includes(comment))).toEqual([]);
  });

  test('has the styles of every component', async () => {
    const folder = join(root, 'console/dist/assets');
    const classes = { js: new Set<string>(), css: new Set<string>() };
    for (const name of await readdir(folder)) {
      const found = classes[name.split('.').at(-1) as keyof typeof classes];
      const text = found ? await readFile(join(folder, name), 'utf8') : '';
      for (const [each] of text.matchAll(/\bm_[0-9a-f]{6,8}\b/g)) found.add(each);
    }
    expect(classes.js.size).toBeGreaterThan(100);
    expect([...classes.js].filter((name) => !classes.css.has(name))).toEqual([]);
  });

  test('rejects an unknown key with the reason', async () => {
    const tab = await openEmptyTab();
    await tab.page.goto(suite.env.url);
    await fill(tab.page, 'textbox', 'API key', 'unknown');
    await click(tab.page, 'button', 'Sign in');
    await waitForText(tab.page, 'The API key is not valid.');
    expect(await tab.page.evaluate('sessionStorage.length')).toBe(0);
  });

  const ends = [
    // Long enough for a page to open on a busy machine.
    { why: 'expired', lifeMs: 15_000 },
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
    await waitForText(page, 'You have been signed out', 60_000);
    await waitForText(page, `The API key has ${why}.`);
    expect(await page.evaluate('sessionStorage.length')).toBe(0);
    expect(await page.$('nav[aria-label=Pages]')).toBeNull();
  });

  test('keeps the button of a menu in place when its code is loaded', async () => {
    const user = await createUser('Menu Ltd', 10);
    const page = await open(user.key, '/prices');
    const button = named('button', 'Colour scheme: System');
    const before = await page.waitForSelector(button);
    await before!.focus();
    await page.evaluate('globalThis.menuButton = document.activeElement');
    await page.keyboard.press('Enter');
    await page.waitForSelector(named('menuitem', 'Dark'));
    const isExpanded = `document.querySelector('[aria-label^="Colour scheme"]').ariaExpanded`;
    expect(await page.evaluate(isExpanded)).toBe('true');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Escape');
    await page.waitForFunction(`${isExpanded} === 'false'`);
    await page.waitForFunction('globalThis.menuButton === document.activeElement');
    await before!.click();
    await click(page, 'menuitem', 'Dark');
    await page.waitForSelector(named('button', 'Colour scheme: Dark'));
  });

  test('finds pages, users and jobs with Ctrl+K', async () => {
    const user = await createUser('Findable Ltd', 1_000);
    const jobId = await submit(user, 2);
    const page = await openAsOperator('/settings');
    const search = async (text: string) => {
      await page.keyboard.down('Control');
      await page.keyboard.press('k');
      await page.keyboard.up('Control');
      await fill(page, 'textbox', 'Search', text);
    };
    await search('findable');
    await page
      .locator('::-p-xpath(//button[contains(., "Findable Ltd") and not(contains(., "awaiting"))])')
      .wait();
    await waitForText(page, 'Variant sold on Shopee');
    // The results follow the text after a moment, and a click may hit another one as long as they
    // move.
    const waitForFirst = (text: string) =>
      page.waitForFunction(
        `document.querySelector('.mantine-Spotlight-action').innerText.includes('${text}')`,
      );
    await search(jobId);
    await waitForFirst(`Findable Ltd · ${jobId.slice(0, 8)}`);
    await page.locator(`::-p-xpath(//button[contains(., "${jobId.slice(0, 8)}")])`).click();
    await page.waitForFunction(`location.pathname.endsWith(${JSON.stringify(jobId)})`);
    await search('queues');
    await waitForFirst('Queues and workers');
    await click(page, 'button', 'Queues and workers');
    await page.waitForFunction(`location.pathname.endsWith('/work')`);
  });

  test('opens the first result of the search with Enter, and the next one with the arrow', async () => {
    const user = await createUser('Keyboard Ltd', 10);
    const page = await open(user.key, '/history');
    const search = async (text: string) => {
      await page.keyboard.down('Control');
      await page.keyboard.press('k');
      await page.keyboard.up('Control');
      await page.locator(named('textbox', 'Search')).wait();
      await page.waitForFunction(`document.activeElement?.getAttribute('aria-label') === 'Search'`);
      await page.keyboard.type(text);
    };
    await search('schedules');
    await page.keyboard.press('Enter');
    await page.waitForFunction(`location.pathname.endsWith('/schedules')`);
    await search('submit');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.waitForFunction(`location.pathname.endsWith('/submit/mkta/variant_sold')`);
  });

  test('shows a new page from its top, and the one before where it was left', async () => {
    const user = await createUser('Scrolling Ltd', 10);
    const page = await open(user.key, '/submit');
    await page.setViewport({ width: 1280, height: 400 });
    await waitForText(page, 'Shopify stores');
    await page.evaluate('scrollTo(0, 200)');
    await page.waitForFunction('scrollY === 200');
    await page.locator('nav a ::-p-text(Prices)').click();
    await waitForText(page, 'Credits per unit');
    expect(await page.evaluate('scrollY')).toBe(0);
    await page.evaluate('history.back()');
    await waitForText(page, 'Shopify stores');
    await page.waitForFunction('scrollY === 200');
  });

  test('finds sections of the documentation below the other results', async () => {
    const user = await createUser('Reader Ltd', 10);
    const page = await open(user.key, '/prices');
    await click(page, 'button', 'Search');
    await fill(page, 'textbox', 'Search', 'schedules');
    await page.locator(named('button', 'Schedules Documentation')).wait();
    const first = `document.querySelector('.mantine-Spotlight-action').innerText`;
    expect(await page.evaluate(first)).toBe('Schedules');
    await fill(page, 'textbox', 'Search', 'standard columns');
    await page
      .locator('::-p-xpath((//*[@data-action])[1][starts-with(., "Standard columns")])')
      .wait();
    await page.keyboard.press('Enter');
    await page.waitForFunction(
      `location.pathname + location.hash === '/docs/guide/formats#standard-columns'`,
    );
  });

  test('shows in the overview what awaits a decision, and what runs', async () => {
    const user = await createUser('Waiting Ltd', 1_000);
    await submit(user, 2);
    const page = await openAsOperator('/');
    await waitForText(page, 'Waiting Ltd');
    await page.locator('::-p-xpath(//a[contains(., "Jobs awaiting approval")])').click();
    await page.waitForFunction(`location.pathname.endsWith('/approvals')`);
    const own = await open(user.key, '/');
    await waitForText(own, 'None used recently');
    await waitForText(own, 'Running and waiting');
    await waitForText(own, 'No job has ended yet');
  });

  test('shows a waiting job in the overview of its user, however many came after it', async () => {
    const user = await createUser('Nightly Ltd', 1_000);
    await submit(user, 3);
    for (let at = 0; at < 20; at++) {
      const items = [{ product_id: String(1_729_000_071_011 + at * 1_000), country: 'th' }];
      const { status } = await suite.env.api.post(user, '/v1/mktd/pdp/bulk/submit', { items });
      expect(status).toBe(202);
    }
    const page = await open(user.key, '/');
    await page
      .locator(
        'section[aria-label="Running and waiting"] ::-p-text(Variant sold on Shopee, 3 units)',
      )
      .wait();
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
    await click(tab.page, 'button', 'Try again');
    // The list is also read again without the button, which then disappears.
    await tab.page.setOfflineMode(false);
    await tab.page.waitForFunction(`!document.body.innerText.includes('out of date')`);
    await tab.close();
  });
});
