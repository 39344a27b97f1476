// Takes the pictures of docs/console: `node test/console/screenshots.ts [name …]`. Every one shows real jobs of
// the fake marketplaces, through the real gateway.
import { mkdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Browser } from 'puppeteer-core';
import { visits } from './pages.ts';
import { type Seed, seed } from './seed.ts';
import { openStage } from './stage.ts';
import { openBrowser, openTab, signIn, type TabOptions, untilSettled, untilText } from './tab.ts';

const folder = process.env.CONSOLE_PICTURES ?? fileURLToPath(new URL('../../docs/console', import.meta.url));
const wanted = new Set(process.argv.slice(2));
const mostBytes = 150_000;

/** What docs/console.md shows: a suffix, how the tab looks, and the pages. */
const pictures: [suffix: string, TabOptions, names: string[]][] = [
  [
    '',
    { width: 1200, height: 760 },
    [
      ...['approvals', 'jobs', 'job', 'user', 'origins', 'work', 'notifications'],
      ...['account', 'submit', 'submit-form', 'own-job', 'keys', 'webhook'],
    ],
  ],
  ['-dark', { width: 1200, height: 760, scheme: 'dark' }, ['job']],
  ['-phone', { width: 390, height: 760, sharpness: 1.5 }, ['approvals', 'job']],
];

/** Takes pictures of pages in one tab each of operator and user. */
async function picture(
  browser: Browser,
  url: string,
  keys: Record<string, string>,
  of: Seed,
  options: TabOptions,
  suffix: string,
  names: string[],
) {
  for (const role of ['operator', 'user'] as const) {
    const tab = await openTab(browser, options);
    await signIn(tab, url, keys[role]!);
    for (const { name, path, shows } of visits(of).filter((visit) => visit.role === role)) {
      if (!names.includes(name) || (wanted.size > 0 && !wanted.has(name + suffix))) continue;
      await tab.page.goto(url + path);
      await untilText(tab.page, shows).catch((error: Error) => console.error(`${name}: ${error.message}`));
      await untilSettled(tab.page).catch((error: Error) => console.error(`${name}: ${error.message}`));
      // Charts are drawn a moment after their data is there.
      await wait(400);
      const file = join(folder, `${name}${suffix}.png`);
      await tab.page.screenshot({ path: file as `${string}.png`, optimizeForSpeed: false });
      const { size } = await stat(file);
      console.log(`${file} ${size} bytes${size > mostBytes ? ': too large' : ''}`);
    }
    for (const trouble of new Set(tab.troubles)) console.error(`${role}: ${trouble}`);
    await tab.close();
  }
}

const stage = await openStage({ latencyMs: 30, gentleness: { concurrency: 8, requests_per_second: 120 } });
const browser = await openBrowser();
try {
  await mkdir(folder, { recursive: true });
  const seeded = await seed(stage);
  const keys = { operator: stage.deployment.operatorKey, user: seeded.anna.key };
  for (const [suffix, options, names] of pictures)
    await picture(browser, stage.url, keys, seeded, options, suffix, names);
} finally {
  await browser.close();
  await stage.stop();
}
