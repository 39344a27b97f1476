import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { Browser } from 'puppeteer-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { chromium, skipped } from '../browser/chromium.ts';
import { visits } from './pages.ts';
import { type Seed, seed } from './seed.ts';
import { openStage, type Stage } from './stage.ts';
import {
  click,
  openBrowser,
  openTab,
  signIn,
  type Tab,
  type TabOptions,
  untilSettled,
  untilText,
} from './tab.ts';

const axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Findings of axe that keep somebody from using the page. */
const judge = `axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) => violations
  .filter(({ impact }) => ['serious', 'critical'].includes(impact))
  .map(({ id, nodes }) => id + ': ' + nodes.slice(0, 3).map(({ html, failureSummary }) =>
    html.slice(0, 200) + ' ' + failureSummary).join(' | ')))`;

/** A visit of every page. */
const timeout = 150_000;

const wider = `document.documentElement.scrollWidth - document.documentElement.clientWidth`;

describe.skipIf('missing' in chromium)(`every page of the console${skipped}`, () => {
  let stage: Stage;
  let browser: Browser;
  let seeded: Seed;
  beforeAll(async () => {
    [stage, browser] = await Promise.all([openStage({ latencyMs: 5 }), openBrowser()]);
    seeded = await seed(stage);
  });
  afterAll(async () => {
    await browser?.close();
    await stage?.stop();
  });

  /** Visits every page of both roles and gives what is found there, and the titles. */
  const tour = async (options: TabOptions, look: (tab: Tab) => Promise<string[]>, bypass = false) => {
    const found: Record<string, string[]> = {};
    const titles: string[] = [];
    const keys = { operator: stage.deployment.operatorKey, user: seeded.anna.key };
    for (const role of ['operator', 'user'] as const) {
      const tab = await openTab(browser, options);
      if (bypass) await tab.page.setBypassCSP(true);
      await signIn(tab, stage.url, keys[role]);
      for (const { name, path, shows } of visits(seeded).filter((visit) => visit.role === role)) {
        await tab.page.goto(stage.url + path);
        await untilText(tab.page, shows);
        await untilSettled(tab.page);
        titles.push(await tab.page.title());
        const findings = [...(await look(tab)), ...tab.troubles.splice(0)];
        if (findings.length > 0) found[name] = findings;
      }
      await tab.close();
    }
    return { found, titles };
  };

  test('obeys its content security policy, fits a phone, has a title, and no errors', {
    timeout,
  }, async () => {
    const { found, titles } = await tour({ width: 360, height: 740 }, async ({ page }) => {
      const excess = Number(await page.evaluate(wider));
      return excess > 0 ? [`${excess} pixels too wide`] : [];
    });
    expect(found).toEqual({});
    expect(titles).toHaveLength(visits(seeded).length);
    for (const title of titles) expect(title).toMatch(/^.+ · Gleaner$/);
  });

  test('breaks its content security policy where it is made to: the check can fail', async () => {
    const tab = await openTab(browser);
    await tab.page.goto(stage.url);
    await tab.page.evaluate(
      `document.head.append(Object.assign(document.createElement('style'), { textContent: 'a{}' }))`,
    );
    expect(tab.troubles.join()).toContain("directive 'style-src");
    await tab.close();
  });

  test.each(['light', 'dark'] as const)('is accessible, %s', { timeout }, async (scheme) => {
    const { found } = await tour(
      { scheme },
      async ({ page }) => {
        await page.evaluate(axe);
        return (await page.evaluate(judge)) as string[];
      },
      true,
    );
    expect(found).toEqual({});
  });

  const opened: {
    what: string;
    path: string;
    role: 'operator' | 'user';
    press: [role: string, name: string];
    shows: string;
  }[] = [
    {
      what: 'units of a job',
      path: '/approvals',
      role: 'operator',
      press: ['button', 'Look'],
      shows: 'As submitted',
    },
    {
      what: 'a rejection',
      path: '/approvals',
      role: 'operator',
      press: ['button', 'Reject'],
      shows: 'Reason',
    },
    { what: 'a new key', path: '/keys', role: 'user', press: ['button', 'New key'], shows: 'What it is for' },
    {
      what: 'a file',
      path: '/submit/mktd/pdp_bulk',
      role: 'user',
      press: ['tab', 'CSV file'],
      shows: 'Drop a CSV',
    },
    {
      what: 'JSON',
      path: '/submit/mktd/pdp_bulk',
      role: 'user',
      press: ['tab', 'JSON'],
      shows: 'The body of',
    },
    {
      what: 'colours',
      path: '/',
      role: 'user',
      press: ['button', 'Colours: As the system has it'],
      shows: 'Dark',
    },
  ];
  test('is accessible with what opens on it, and so is the sign-in page', { timeout }, async () => {
    const found: Record<string, string[]> = {};
    const look = async (name: string, { page }: Tab) => {
      await page.evaluate(axe);
      const findings = (await page.evaluate(judge)) as string[];
      if (findings.length > 0) found[name] = findings;
    };
    for (const scheme of ['light', 'dark'] as const) {
      for (const { what, path, role, press, shows } of opened) {
        const tab = await openTab(browser, { scheme });
        await tab.page.setBypassCSP(true);
        await tab.page.goto(stage.url);
        await look(`sign-in, ${scheme}`, tab);
        await signIn(tab, stage.url + path, role === 'user' ? seeded.anna.key : stage.deployment.operatorKey);
        await click(tab.page, ...press);
        await untilText(tab.page, shows);
        await untilSettled(tab.page);
        await look(`${what}, ${scheme}`, tab);
        await tab.close();
      }
    }
    expect(found).toEqual({});
  });

  test('is reached on a phone by the menu', async () => {
    const { page, close } = await openTab(browser, { width: 360, height: 740 }).then(async (tab) => {
      await signIn(tab, stage.url, stage.deployment.operatorKey);
      return tab;
    });
    await page.locator('::-p-aria([name="Open the menu"][role="button"])').click();
    await page.locator('::-p-aria([name="Users"][role="link"])').click();
    await untilText(page, 'Price Watch');
    await close();
  });
});
