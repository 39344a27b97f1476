import puppeteer from 'puppeteer-core';
import { findBrowser } from '../src/base/browser-path.ts';
import { systemClock } from '../src/base/clock.ts';
import { createLog } from '../src/base/log.ts';
import { parseOrigins } from '../src/base/origins.ts';
import { createBrowserFetcher } from '../src/fetch/browser/fetcher.ts';

// Loads pages in a browser, and discards what their scripts request:
// `browser-loop.ts <gleaner|bare> <origin> <concurrency>`. Each message is a number of pages.
// "bare" opens each page with the driver alone.
const [contender, origin, concurrency] = process.argv.slice(2) as [
  'gleaner' | 'bare',
  string,
  string,
];
const path = process.env.GLEANER_BROWSER ?? findBrowser(process.env.PATH ?? '');
if (!path) throw new Error('no Chromium is installed');
let loaded = 0;

async function openBare(): Promise<(page: number) => Promise<number>> {
  const args = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
  // The driver's handlers would keep this process running. The browser ends with its pipe.
  const handlers = { handleSIGINT: false, handleSIGTERM: false, handleSIGHUP: false };
  const browser = await puppeteer.launch({ executablePath: path!, pipe: true, args, ...handlers });
  return async (number) => {
    const page = await browser.newPage();
    const data = page.waitForResponse(`${origin}/data?${number}`);
    await page.goto(`${origin}/page?${number}`);
    const response = await data;
    await response.buffer();
    await page.close();
    return response.status();
  };
}

async function openGleaner(): Promise<(page: number) => Promise<number>> {
  const fetcher = createBrowserFetcher({
    origins: parseOrigins(JSON.stringify({ mkta: { id: origin } })),
    clock: systemClock,
    log: createLog('info', 'bench'),
    userAgent: 'Gleaner',
    path: path!,
  });
  const fetch = fetcher.for('mkta', 'id');
  return async (number) => {
    const page = { path: `/page?${number}`, take: 'response' } as const;
    return (await fetch({ path: `/data?${number}`, page })).status;
  };
}

const load = await (contender === 'bare' ? openBare() : openGleaner());

async function loadPages(count: number): Promise<void> {
  const last = loaded + count;
  const loop = async () => {
    while (loaded < last) {
      const status = await load(++loaded);
      if (status !== 200) throw new Error(`the origin answered ${status}`);
    }
  };
  await Promise.all(Array.from({ length: Number(concurrency) }, loop));
}

await loadPages(4);
process.on('message', async (count: string) => {
  await loadPages(Number(count));
  process.send!('done');
});
process.once('disconnect', () => process.exit(0));
process.send!('ready');
