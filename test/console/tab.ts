import puppeteer, { type Browser, type Page } from 'puppeteer-core';
import { chromium } from '../browser/chromium.ts';

/** A tab of a real browser, that notes what goes wrong in it. */
export interface Tab {
  page: Page;
  /** Errors of scripts, violations of the content security policy, and files that did not come. */
  troubles: string[];
  close(): Promise<void>;
}

/** How a tab looks. */
export interface TabOptions {
  width?: number;
  height?: number;
  scheme?: 'light' | 'dark';
  /** Pixels per point. */
  sharpness?: number;
  /** Where downloads go. */
  downloads?: string;
}

/** Starts the browser of this machine. */
export async function openBrowser(): Promise<Browser> {
  if ('missing' in chromium) throw new Error(chromium.missing);
  return puppeteer.launch({
    executablePath: chromium.path,
    pipe: true,
    args: [
      ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
      '--disable-dev-shm-usage',
      '--force-prefers-reduced-motion',
      '--lang=en-GB',
    ],
  });
}

// Texts, as they run in the browser: there is no document here.
const tellViolations = `document.addEventListener('securitypolicyviolation', (event) =>
  console.error('policy: ' + event.violatedDirective + ' ' + event.blockedURI + ' ' + event.sample))`;
const shown = 'document.body.innerText';
const settled = `document.querySelector(
  '[role=status][aria-label^=Loading], .mantine-Skeleton-root, [aria-label=Loading]') === null`;

/** Opens a tab of its own, which shares nothing with other tabs. */
export async function openTab(browser: Browser, options: TabOptions = {}): Promise<Tab> {
  const { width = 1280, height = 900, scheme = 'light', sharpness = 1, downloads } = options;
  const context = await browser.createBrowserContext(
    downloads === undefined ? {} : { downloadBehavior: { policy: 'allow', downloadPath: downloads } },
  );
  const page = await context.newPage();
  await page.setViewport({ width, height, deviceScaleFactor: sharpness });
  await page.emulateTimezone('Asia/Jakarta');
  await page.emulateMediaFeatures([
    { name: 'prefers-color-scheme', value: scheme },
    { name: 'prefers-reduced-motion', value: 'reduce' },
  ]);
  const troubles: string[] = [];
  page.on('pageerror', (error) => troubles.push(String(error)));
  page.on('console', (message) => {
    // An answer that refuses a call is no trouble of the page: what it shows of it is tested.
    const refusal = /^Failed to load resource: the server responded with a status of 4/.test(message.text());
    if (['error', 'warn'].includes(message.type()) && !refusal) troubles.push(message.text());
  });
  page.on('requestfailed', (request) => {
    const reason = request.failure()?.errorText ?? '';
    if (reason !== 'net::ERR_ABORTED') troubles.push(`${request.url()}: ${reason}`);
  });
  await page.evaluateOnNewDocument(tellViolations);
  return { page, troubles, close: () => context.close() };
}

/** Signs in on the sign-in page, and waits until the console is there. */
export async function signIn({ page }: Tab, url: string, key: string): Promise<void> {
  await page.goto(url);
  await page.locator(named('textbox', 'API key')).fill(key);
  await click(page, 'button', 'Sign in');
  await page.waitForSelector('nav[aria-label=Pages]');
}

/** A selector of what people know by its role and name. */
export const named = (role: string, name: string) => `::-p-aria([name="${name}"][role="${role}"])`;

/** Clicks on what people know by its role and name. */
export const click = (page: Page, role: string, name: string): Promise<void> =>
  page.locator(named(role, name)).click();

/** Clicks on a button in the row of a list that holds a text. */
export const clickInRow = (page: Page, text: string, button: string): Promise<void> =>
  page.locator(`::-p-xpath(//tr[contains(., "${text}")]//button[contains(., "${button}")])`).click();

/** Clicks on a button of the dialog that is open. */
export const clickInDialog = (page: Page, button: string): Promise<void> =>
  page.locator(`::-p-xpath(//*[@role="dialog"]//button[. = "${button}"])`).click();

/** Waits until the page holds a text, and says what it holds where it never does. */
export async function untilText(page: Page, text: string, withinMs = 15_000): Promise<void> {
  try {
    await page.waitForFunction(`${shown}.includes(${JSON.stringify(text)})`, { timeout: withinMs });
  } catch (error) {
    throw new Error(`never showed “${text}”, but:\n${await page.evaluate(shown)}`, { cause: error });
  }
}

/** Waits until nothing on the page stands for something that is still loading. */
export async function untilSettled(page: Page): Promise<void> {
  await page.waitForFunction(settled, { timeout: 15_000 });
}
