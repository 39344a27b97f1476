// Takes the screenshots of docs/console: `node test/console/screenshots.ts [name …]`. They show
// real jobs on the fake marketplaces, through the real gateway.
import { mkdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Browser } from 'puppeteer-core';
import shareEngines from '../engines/broker.ts';
import { startConsoleEnvironment } from './environment.ts';
import { pageVisits } from './pages.ts';
import { type Seed, seed } from './seed.ts';
import {
  leaveBrowser,
  openBrowser,
  openTab,
  signIn,
  type TabOptions,
  waitForLoaded,
  waitForText,
} from './tab.ts';

const folder =
  process.env.CONSOLE_PICTURES ?? fileURLToPath(new URL('../../docs/console', import.meta.url));
const wanted = new Set(process.argv.slice(2));
const maxBytes = 150_000;

/** Screenshots in docs/console.md: file suffix, tab options and pages. */
const screenshots: [suffix: string, TabOptions, names: string[]][] = [
  [
    '',
    { width: 1200, height: 760 },
    [
      ...['overview', 'approvals', 'job', 'user', 'operators', 'origins', 'work', 'notifications'],
      ...['own-overview', 'submit', 'submit-form', 'try', 'keys', 'webhook', 'schedule'],
    ],
  ],
  ['', { width: 1200, height: 620 }, ['own-job']],
  ['', { width: 1200, height: 560 }, ['jobs']],
  ['-dark', { width: 1200, height: 760, scheme: 'dark' }, ['job']],
  ['-phone', { width: 390, height: 760, scale: 1.5 }, ['approvals', 'job']],
];

/** Takes screenshots of pages, in one tab per role. */
async function takeScreenshots(
  browser: Browser,
  url: string,
  keys: Record<string, string>,
  seeded: Seed,
  options: TabOptions,
  suffix: string,
  names: string[],
) {
  for (const role of ['operator', 'user'] as const) {
    const tab = await openTab(browser, options);
    await signIn(tab, url, keys[role]!);
    for (const { name, path, shows } of pageVisits(seeded).filter((visit) => visit.role === role)) {
      if (!names.includes(name) || (wanted.size > 0 && !wanted.has(name + suffix))) continue;
      await tab.page.goto(url + path);
      await waitForText(tab.page, shows).catch((error: Error) =>
        console.error(`${name}: ${error.message}`),
      );
      await waitForLoaded(tab.page).catch((error: Error) =>
        console.error(`${name}: ${error.message}`),
      );
      if (path.includes('?tab='))
        await tab.page.evaluate(`document.querySelector('main [role=tablist]').scrollIntoView()`);
      // Charts are drawn shortly after their data has loaded.
      await wait(400);
      const file = join(folder, `${name}${suffix}.png`);
      await tab.page.screenshot({ path: file as `${string}.png`, optimizeForSpeed: false });
      const { size } = await stat(file);
      console.log(`${file} ${size} bytes${size > maxBytes ? ': too large' : ''}`);
    }
    for (const error of new Set(tab.pageErrors)) console.error(`${role}: ${error}`);
    await tab.close();
  }
}

const stopEngines = await shareEngines();
const env = await startConsoleEnvironment({
  latencyMs: 30,
  limits: { concurrency: 8, requests_per_second: 120 },
});
const browser = await openBrowser();
try {
  await mkdir(folder, { recursive: true });
  const seeded = await seed(env);
  const keys = { operator: env.deployment.operatorKey, user: seeded.anna.key };
  for (const [suffix, options, names] of screenshots)
    await takeScreenshots(browser, env.url, keys, seeded, options, suffix, names);
} finally {
  await leaveBrowser(browser);
  await env.stop();
  await stopEngines();
}
