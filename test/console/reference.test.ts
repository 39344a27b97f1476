import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { Browser } from 'puppeteer-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { chromium } from '../browser/chromium.ts';
import { findEngine } from '../engines/missing.ts';
import { sharedConsole } from './environment.ts';
import { leaveBrowser, openBrowser, openTab, type Tab } from './tab.ts';

const found = await findEngine(Promise.resolve(chromium));
const missing = 'missing' in found ? ` (${found.missing})` : '';
const axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Script that returns the axe violations of the page, apart from the element of the renderer. */
const listViolations = `axe.run({ exclude: ['.scalar-app'] }, { resultTypes: ['violations'] })
  .then(({ violations }) => violations.map(({ id }) => id))`;
const hasText = (text: string) => `document.body.innerText.includes(${JSON.stringify(text)})`;

describe.skipIf(missing !== '')(`the API reference${missing}`, () => {
  let url: string;
  let browser: Browser;
  let tab: Tab;

  beforeAll(async () => {
    const [env, opened] = await Promise.all([sharedConsole(), openBrowser()]);
    url = env.deployment.url;
    browser = opened;
    tab = await openTab(browser);
    await tab.page.goto(`${url}/docs`);
    await tab.page.waitForFunction(hasText('Quick start'));
  });
  afterAll(async () => {
    if (browser) await leaveBrowser(browser);
  });

  test('shows the quick start, and calls by short titles with their details, without violations of its policy', async () => {
    const { page } = tab;
    for (const text of ['Authentication', 'Shopee', 'Jobs', 'Account', 'Submit product page bulk'])
      await page.waitForFunction(hasText(text));
    await page.type('#find', 'tokopedia submit');
    await page.waitForFunction(`document.querySelectorAll('details:not([hidden])').length === 3`);
    await page.type('#key', 'gl_reference_test');
    await page.click('#submitMktbPdpBulk summary');
    for (const text of [
      'items[].shop_domain',
      "-H 'Authorization: Bearer gl_reference_test'",
      '@gleaner/client',
    ])
      await page.waitForFunction(hasText(text));
    await page.evaluate(axe);
    expect(await page.evaluate(listViolations)).toEqual([]);
    expect(tab.pageErrors.filter((error) => !error.includes("directive 'style-src"))).toEqual([]);
    tab.pageErrors.length = 0;
  });

  test.each(['/docs', '/docs/guide', '/docs/guide/formats', '/docs/try'])(
    'has one header on all pages of the documentation: %s',
    async (path) => {
      const { page } = tab;
      await page.goto(`${url}${path}`);
      const links = await page.$$eval('header a', (found) =>
        found.map(({ href, textContent }) => [textContent?.trim(), href]),
      );
      const paths = links.map(([title, href]) => [title, new URL(href!).pathname]);
      expect(paths).toEqual([
        ['Gleaner', '/console'],
        ['Guide', '/docs/guide'],
        ['API', '/docs'],
        ['Operator API', '/docs'],
        ['Try it', '/docs/try'],
        ['Console', '/console'],
      ]);
      await page.waitForSelector('header [aria-current=page]');
      const current = await page.$eval('header [aria-current=page]', (link) =>
        link.getAttribute('href'),
      );
      const { pathname } = new URL(current!, page.url());
      expect(path.startsWith(pathname)).toBe(true);
    },
  );

  test('opens the call that the address names', async () => {
    const { page } = tab;
    await page.goto(`${url}/v1/docs#listFiles`);
    await page.waitForFunction(`document.querySelector('#listFiles[open]') !== null`);
    await page.goto(`${url}/docs?api=operator`);
    await page.waitForFunction(hasText('Users and keys'));
    expect(tab.pageErrors).toEqual([]);
  });

  test('loads nothing from other origins', async () => {
    const { page } = tab;
    await page.goto(`${url}/docs/try`);
    await page.waitForFunction(hasText('Quick start'));
    const origins = await page.evaluate(
      `[...new Set(performance.getEntriesByType('resource').map(({ name }) => new URL(name).origin))]`,
    );
    expect(origins).toEqual([url]);
  });

  test('has an interactive page that fills the key into samples, and offers curl, TypeScript and Python', async () => {
    const { page } = tab;
    const field = await page.waitForSelector('input[placeholder=Token]');
    await field!.type('gl_reference_test');
    await page.goto(`${url}/docs/try#api/tag/jobs/GET/v1/jobs`);
    await page.waitForFunction(`[...document.querySelectorAll('pre')]
      .some(({ innerText }) => innerText.includes("'Authorization: Bearer gl_reference_test'"))`);
    await page.evaluate(`[...document.querySelectorAll('button')]
      .filter(({ innerText, checkVisibility }) => innerText.includes('Shell Curl')).at(-1).click()`);
    for (const text of ['@gleaner/client', 'Fetch', 'Requests'])
      await page.waitForFunction(hasText(text));
    expect(tab.pageErrors).toEqual([]);
  });

  test('shows the operator API', async () => {
    const { page } = tab;
    await page.goto(`${url}/docs/try?api=operator`);
    await page.waitForFunction(hasText('Users and keys'));
    expect(tab.pageErrors).toEqual([]);
  });

  test('has accessible markup around the renderer', async () => {
    await tab.page.evaluate(axe);
    expect(await tab.page.evaluate(listViolations)).toEqual([]);
  });
});
