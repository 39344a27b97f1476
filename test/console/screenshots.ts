// Takes screenshots of the console with real jobs on the fake marketplaces, through the real
// gateway: those of the documentation, `node test/console/screenshots.ts [name …]`, or with `--all`
// (`npm run pictures`) every page on a desktop and on a phone, which are saved to .cache/pictures.
import { mkdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import type { Browser } from 'puppeteer-core';
import shareEngines from '../engines/broker.ts';
import { root } from '../support/service/service.ts';
import { startConsoleEnvironment } from './environment.ts';
import { type PageVisit, pageVisits } from './pages.ts';
import { type Seed, seed } from './seed.ts';
import {
  leaveBrowser,
  openBrowser,
  openTab,
  showTestData,
  signIn,
  type Tab,
  type TabOptions,
  waitForLoaded,
  waitForText,
} from './tab.ts';

/** Screenshots of pages at one size. */
interface Screenshots {
  folder: string;
  /** End of the names of the files. */
  suffix: string;
  tab: TabOptions;
  /** Returns true for the pages to show. */
  shows(name: string): boolean;
}

const {
  values: { all },
  positionals: names,
} = parseArgs({ options: { all: { type: 'boolean' } }, allowPositionals: true });

/** Maximum size of a picture in the documentation. */
const maxBytes = 150_000;

/** Pictures of the documentation: file suffix, tab options, and pages. */
const documented: [suffix: string, tab: TabOptions, pages: string[]][] = [
  [
    '',
    { width: 1200, height: 760 },
    [
      'overview',
      'approvals',
      'job',
      'user',
      'operators',
      'origins',
      'work',
      'notifications',
      'own-overview',
      'submit',
      'submit-form',
      'try',
      'keys',
      'webhook',
      'schedule',
    ],
  ],
  ['', { width: 1200, height: 620 }, ['own-job', 'test-job']],
  ['', { width: 1200, height: 560 }, ['jobs']],
  ['-dark', { width: 1200, height: 760, scheme: 'dark' }, ['job']],
  ['-phone', { width: 390, height: 760, scale: 1.5 }, ['approvals', 'job']],
];

const isNamed = (name: string) => names.length === 0 || names.includes(name);

const pictures: Screenshots[] = all
  ? [1440, 390].map((width) => ({
      folder: join(root, '.cache/pictures'),
      suffix: `-${width}`,
      tab: { width, height: 900 },
      shows: isNamed,
    }))
  : documented.map(([suffix, tab, pages]) => ({
      folder: join(root, 'docs/console'),
      suffix,
      tab,
      shows: (name) => pages.includes(name) && isNamed(name + suffix),
    }));

/** Takes screenshots of pages, in one tab per role. */
async function takeScreenshots(
  browser: Browser,
  url: string,
  keys: Record<PageVisit['role'], string>,
  seeded: Seed,
  screenshots: Screenshots,
): Promise<void> {
  for (const role of ['operator', 'user', 'tester'] as const) {
    const visits = pageVisits(seeded).filter(
      (visit) => visit.role === role && screenshots.shows(visit.name),
    );
    if (visits.length === 0) continue;
    const tab = await openTab(browser, screenshots.tab);
    await signIn(tab, url, keys[role]);
    if (role === 'tester') await showTestData(tab.page);
    for (const visit of visits) await takeScreenshot(tab, url, visit, screenshots);
    for (const error of new Set(tab.pageErrors)) console.error(`${role}: ${error}`);
    await tab.close();
  }
}

async function takeScreenshot(
  { page }: Tab,
  url: string,
  { name, path, shows }: PageVisit,
  { folder, suffix }: Screenshots,
): Promise<void> {
  const report = (error: Error) => console.error(`${name}: ${error.message}`);
  await page.goto(url + path);
  await waitForText(page, shows).catch(report);
  await waitForLoaded(page).catch(report);
  if (path.includes('?tab='))
    await page.evaluate(`document.querySelector('main [role=tablist]').scrollIntoView()`);
  // Charts are drawn, and pictures loaded, shortly after their data has loaded.
  await wait(400);
  const file = join(folder, `${name}${suffix}.png`);
  await page.screenshot({ path: file as `${string}.png`, optimizeForSpeed: false });
  const { size } = await stat(file);
  const isTooLarge = !all && size > maxBytes;
  console.log(`${file} ${size} bytes${isTooLarge ? ': too large' : ''}`);
}

const stopEngines = await shareEngines();
const env = await startConsoleEnvironment({
  latencyMs: 30,
  limits: { concurrency: 8, requests_per_second: 120 },
  showsPictures: true,
});
const browser = await openBrowser();
try {
  const seeded = await seed(env);
  const { key } = seeded.anna;
  const keys = { operator: env.deployment.operatorKey, user: key, tester: key };
  for (const screenshots of pictures) {
    await mkdir(screenshots.folder, { recursive: true });
    await takeScreenshots(browser, env.url, keys, seeded, screenshots);
  }
} finally {
  await leaveBrowser(browser);
  await env.stop();
  await stopEngines();
}
