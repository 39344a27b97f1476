import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { Browser, Page } from 'puppeteer-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { chromium, skipped } from '../browser/chromium.ts';
import { slack } from '../support/time/until.ts';
import { type ConsoleEnvironment, sharedConsole } from './environment.ts';
import { pageVisits } from './pages.ts';
import { type Seed, seed } from './seed.ts';
import {
  click,
  fill,
  leaveBrowser,
  navigate,
  openBrowser,
  openTab,
  showTestData,
  signIn,
  type Tab,
  waitForLoaded,
  waitForText,
} from './tab.ts';

const axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Rules of axe that depend on colours. */
const colourRules = ['color-contrast', 'link-in-text-block'];

/**
 * Returns a script that lists serious and critical axe violations, of all rules if none are given.
 */
const listViolations = (rules?: readonly string[]) => `axe.run(document, {
  resultTypes: ['violations'],
  ${rules ? `runOnly: ${JSON.stringify(rules)},` : ''}
}).then(({ violations }) => violations
  .filter(({ impact }) => ['serious', 'critical'].includes(impact))
  .map(({ id, nodes }) => id + ': ' + nodes.slice(0, 3).map(({ html, failureSummary }) =>
    html.slice(0, 200) + ' ' + failureSummary).join(' | ')))`;

const schemeAttribute = 'data-mantine-color-scheme';

/** Changes the colour scheme, and waits until the page shows it. */
async function setScheme(page: Page, scheme: 'light' | 'dark'): Promise<void> {
  await page.emulateMediaFeatures([
    { name: 'prefers-color-scheme', value: scheme },
    { name: 'prefers-reduced-motion', value: 'reduce' },
  ]);
  await page.waitForSelector(`[${schemeAttribute}=${scheme}]`);
  await page.waitForFunction(
    'document.getAnimations().every((one) => !(one instanceof CSSTransition))',
  );
}

/**
 * Returns the axe violations of the open page: of every rule in its colour scheme, and of colours
 * in the other one, which is then that of the next page.
 */
async function inspectAccess({ page }: Tab): Promise<string[]> {
  // A page that the router opens is in the document of the one before it.
  if (await page.evaluate(`typeof axe === 'undefined'`)) await page.evaluate(axe);
  const isDark = (await page.$(`[${schemeAttribute}=dark]`)) !== null;
  const [first, second] = isDark ? (['dark', 'light'] as const) : (['light', 'dark'] as const);
  const violations = (await page.evaluate(listViolations())) as string[];
  await setScheme(page, second);
  const ofColours = (await page.evaluate(listViolations(colourRules))) as string[];
  return [
    ...violations.map((violation) => `${first}: ${violation}`),
    ...ofColours.map((violation) => `${second}: ${violation}`),
  ];
}

/** Timeout of a test that opens every page, in milliseconds. */
const timeout = 240_000 * slack;

/**
 * Script that returns the elements that reach to the right of the screen, each with its excess in
 * pixels, if the page is wider than the screen, and those of its fixed header.
 */
const tooWide = `(() => {
  const { scrollWidth, clientWidth } = document.documentElement;
  const excess = (element) => Math.ceil(element.getBoundingClientRect().right) - clientWidth;
  const text = (element) =>
    '+' + excess(element) + ' ' + element.cloneNode().outerHTML + element.textContent.slice(0, 40);
  const selector = scrollWidth > clientWidth ? '*' : 'header button';
  const found = [...document.querySelectorAll(selector)].filter((element) => excess(element) > 0);
  return scrollWidth > clientWidth && found.length === 0 ? ['page'] : found.slice(-5).map(text);
})()`;

/** Script that resolves when the page has rendered its layout after a resize. */
const rendered =
  'new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done())))';

/** Returns what is too wide for phones on the open page. */
async function inspectPhone({ page }: Tab): Promise<string[]> {
  const viewport = page.viewport()!;
  const found: string[] = [];
  for (const width of [390, 360]) {
    await page.setViewport({ ...viewport, width, height: 740 });
    await page.evaluate(rendered);
    // Times are as long as they may be.
    await page.evaluate(`document.querySelectorAll('time[data-relative]').forEach(
      ({ firstChild }) => { firstChild.data = '59 seconds ago'; })`);
    // A layout is rendered in steps. One that has fitted once does not count as too wide.
    const fitting = page.waitForFunction(`${tooWide}.length === 0`, { timeout: 15_000 * slack });
    const excesses = await fitting.then(
      () => [],
      () => page.evaluate(tooWide) as Promise<string[]>,
    );
    found.push(...excesses.map((excess) => `${width} pixels: ${excess}`));
  }
  await page.setViewport(viewport);
  await page.evaluate(rendered);
  return found;
}

/** Closes what the shell shows above the page, and leaves the page with its dialogs. */
async function leaveDialog(page: Page): Promise<void> {
  await page.keyboard.press('Escape');
  await navigate(page, '/nowhere');
  await waitForText(page, 'This page does not exist');
}

describe.skipIf('missing' in chromium)(`every page of the console${skipped}`, () => {
  let env: ConsoleEnvironment;
  let browser: Browser;
  let seeded: Seed;
  beforeAll(async () => {
    [env, browser] = await Promise.all([sharedConsole(), openBrowser()]);
    seeded = await seed(env);
  });
  afterAll(async () => {
    if (browser) await leaveBrowser(browser);
  });

  /** Visits every page of both roles once; returns what is wrong with each, and the page titles. */
  const inspectPages = async () => {
    const found: Record<string, string[]> = {};
    const titles: string[] = [];
    const { key } = seeded.anna;
    const keys = { operator: env.deployment.operatorKey, user: key, tester: key };
    for (const role of ['operator', 'user', 'tester'] as const) {
      const tab = await openTab(browser);
      await signIn(tab, env.url, keys[role]);
      if (role === 'tester') await showTestData(tab.page);
      for (const { name, path, shows } of pageVisits(seeded).filter(
        (visit) => visit.role === role,
      )) {
        await navigate(tab.page, path);
        await waitForText(tab.page, shows);
        await waitForLoaded(tab.page);
        // React replaces the title after it has rendered the page; until then, it is the document's
        // title.
        const titled = await tab.page.waitForFunction(
          `document.title.includes(' · ') && document.title`,
        );
        titles.push(String(await titled.jsonValue()));
        const findings = [...(await inspectPhone(tab)), ...tab.pageErrors.splice(0)];
        findings.push(...(await inspectAccess(tab)));
        // Axe adds styles, which the policy refuses.
        tab.pageErrors.length = 0;
        if (findings.length > 0) found[name] = findings;
      }
      await tab.close();
    }
    return { found, titles };
  };

  test('obeys the content security policy, fits 360 and 390 px, has a title and no errors, and is accessible in both colour schemes', {
    timeout,
  }, async () => {
    const { found, titles } = await inspectPages();
    expect(found).toEqual({});
    expect(titles).toHaveLength(pageVisits(seeded).length);
    for (const title of titles) expect(title).toMatch(/^.+ · Gleaner$/);
  });

  test('reports a violation of the content security policy', async () => {
    const tab = await openTab(browser);
    await tab.page.goto(env.url);
    await tab.page.evaluate(
      `document.head.append(Object.assign(document.createElement('style'), { textContent: 'a{}' }))`,
    );
    expect(tab.pageErrors.join()).toContain("directive 'style-src");
    await tab.close();
  });

  const dialogs: {
    name: string;
    path: string;
    role: 'operator' | 'user';
    press: [role: string, name: string];
    /** Role and name of a field, and the text to enter before. */
    text?: [string, string, string];
    shows: string;
  }[] = [
    {
      name: 'units of a job',
      path: '/approvals',
      role: 'operator',
      press: ['button', 'View units'],
      shows: 'Input',
    },
    {
      name: 'a rejection',
      path: '/approvals',
      role: 'operator',
      press: ['button', 'Reject'],
      shows: 'Reason',
    },
    {
      name: 'a new key',
      path: '/keys',
      role: 'user',
      press: ['button', 'Create key'],
      shows: 'the program that uses the key',
    },
    {
      name: 'a file',
      path: '/submit/mktd/pdp_bulk',
      role: 'user',
      press: ['tab', 'CSV file'],
      shows: 'Drop a CSV',
    },
    {
      name: 'JSON',
      path: '/submit/mktd/pdp_bulk',
      role: 'user',
      press: ['tab', 'JSON'],
      shows: 'Sent unchanged as',
    },
    {
      name: 'options',
      path: '/submit/mktd/pdp_bulk',
      role: 'user',
      press: ['button', 'Options'],
      shows: 'Maximum cost',
    },
    {
      name: 'a new destination',
      path: '/destinations',
      role: 'user',
      press: ['button', 'Create destination'],
      shows: 'Secret key',
    },
    {
      name: 'a destination',
      path: '/destinations',
      role: 'user',
      press: ['button', 'Edit inbox'],
      shows: 'Remove the stored headers',
    },
    {
      name: 'a schedule',
      path: '/submit/mktd/pdp_bulk?tab=json',
      role: 'user',
      text: ['textbox', 'Body', '{"items": [{"product_id": "1729000076001", "country": "th"}]}'],
      press: ['button', 'Schedule'],
      shows: 'Repeat',
    },
    {
      name: 'a rule',
      path: '/rules',
      role: 'user',
      press: ['button', 'Create rule'],
      shows: 'All marketplaces',
    },
    {
      name: 'search',
      path: '/jobs',
      role: 'operator',
      press: ['button', 'Search'],
      shows: 'Queues and workers',
    },
    {
      name: 'colours',
      path: '/',
      role: 'user',
      press: ['button', 'Colour scheme: System'],
      shows: 'Dark',
    },
  ];
  test('has accessible dialogs and an accessible sign-in page', { timeout }, async () => {
    const found: Record<string, string[]> = {};
    const check = async (name: string, tab: Tab) => {
      const findings = await inspectAccess(tab);
      if (findings.length > 0) found[name] = findings;
    };
    for (const role of ['operator', 'user'] as const) {
      const tab = await openTab(browser);
      await tab.page.setBypassCSP(true);
      await tab.page.goto(env.url);
      await check('sign-in', tab);
      await signIn(tab, env.url, role === 'user' ? seeded.anna.key : env.deployment.operatorKey);
      for (const { name, path, text, press, shows } of dialogs.filter(
        (dialog) => dialog.role === role,
      )) {
        await leaveDialog(tab.page);
        await navigate(tab.page, path);
        if (text) await fill(tab.page, ...text);
        await click(tab.page, ...press);
        await waitForText(tab.page, shows);
        await waitForLoaded(tab.page);
        await check(name, tab);
      }
      await tab.close();
    }
    expect(found).toEqual({});
  });

  test('is reachable through the menu on a phone', async () => {
    const { page, close } = await openTab(browser, { width: 360, height: 740 }).then(
      async (tab) => {
        await signIn(tab, env.url, env.deployment.operatorKey);
        return tab;
      },
    );
    await page.locator('::-p-aria([name="Open menu"][role="button"])').click();
    await page.locator('::-p-aria([name="Users"][role="link"])').click();
    await waitForText(page, 'Price Watch');
    await close();
  });
});
