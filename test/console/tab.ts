import type { Browser, BrowserContext, Page } from 'puppeteer-core';
import { signInWith } from '../sessions/fixture.ts';
import { sharedBrowser } from '../support/run/browser.ts';
import { slack } from '../support/time/until.ts';

/** Browser tab that records page errors. */
export interface Tab {
  page: Page;
  /** Script errors, violations of the content security policy and failed requests. */
  pageErrors: string[];
  close(): Promise<void>;
}

/** Options for openTab(). */
export interface TabOptions {
  width?: number;
  height?: number;
  scheme?: 'light' | 'dark';
  /** Device pixels per CSS pixel. */
  scale?: number;
}

const contexts = new WeakMap<Browser, BrowserContext[]>();

/** Opens the browser that the test files of a run share. */
export const openBrowser: () => Promise<Browser> = sharedBrowser;

/** Closes the tabs of this file, and leaves the browser to the other files. */
export async function leaveBrowser(browser: Browser): Promise<void> {
  for (const context of contexts.get(browser) ?? []) await context.close().catch(() => {});
  await browser.disconnect();
}

// Scripts as text: they run in the browser.
const reportViolations = `document.addEventListener('securitypolicyviolation', (event) =>
  console.error('policy: ' + event.violatedDirective + ' ' + event.blockedURI + ' ' + event.sample))`;
const markFocusedDialogs = `document.addEventListener('focusin', ({ target }) =>
  target.closest?.('[role=dialog]')?.setAttribute('data-had-focus', ''))`;
const bodyText = 'document.body.innerText';
const loaded = `document.querySelector(
  '[role=status][aria-label^=Loading], .mantine-Skeleton-root, [aria-label=Loading]') === null`;

/** Opens a tab in a new browser context, which ends with the tab. */
export async function openTab(browser: Browser, options: TabOptions = {}): Promise<Tab> {
  const context = await browser.createBrowserContext();
  contexts.set(browser, [...(contexts.get(browser) ?? []), context]);
  return { ...(await openTabIn(context, options)), close: () => context.close() };
}

/** Opens a tab in a browser context. */
export async function openTabIn(context: BrowserContext, options: TabOptions = {}): Promise<Tab> {
  const { width = 1280, height = 900, scheme = 'light', scale = 1 } = options;
  const page = await context.newPage();
  page.setDefaultTimeout(30_000 * slack);
  await page.setViewport({ width, height, deviceScaleFactor: scale });
  await page.emulateTimezone('Asia/Jakarta');
  await page.emulateMediaFeatures([
    { name: 'prefers-color-scheme', value: scheme },
    { name: 'prefers-reduced-motion', value: 'reduce' },
  ]);
  const pageErrors: string[] = [];
  page.on('pageerror', (error) => pageErrors.push(String(error)));
  page.on('console', (message) => {
    // Error responses are expected; tests check what the page shows.
    const isErrorResponse =
      /^Failed to load resource: the server responded with a status of 4/.test(message.text());
    if (['error', 'warn'].includes(message.type()) && !isErrorResponse)
      pageErrors.push(message.text());
  });
  page.on('requestfailed', (request) => {
    const reason = request.failure()?.errorText ?? '';
    if (reason !== 'net::ERR_ABORTED') pageErrors.push(`${request.url()}: ${reason}`);
  });
  await page.evaluateOnNewDocument(reportViolations);
  await page.evaluateOnNewDocument(markFocusedDialogs);
  return { page, pageErrors, close: () => page.close() };
}

/** Signs in and waits for the console. */
export async function signIn({ page }: Tab, url: string, key: string): Promise<void> {
  await page.goto(url);
  await fill(page, 'textbox', 'API key', key);
  await click(page, 'button', 'Sign in');
  await page.waitForSelector('nav[aria-label=Pages]');
}

/**
 * Opens a page with a new session, which replaces what the browser context has stored. The console
 * is at `url`.
 */
export async function enterSession(
  page: Page,
  url: string,
  path: string,
  key: string,
): Promise<void> {
  const { origin } = new URL(url);
  const session = await page.createCDPSession();
  await session.send('Storage.clearDataForOrigin', {
    origin,
    storageTypes: 'cookies,local_storage',
  });
  await session.detach();
  const [name, value] = (await signInWith(origin, key)).cookie.split('=');
  await page.browserContext().setCookie({
    name: name!,
    value: value!,
    domain: new URL(url).hostname,
    path: '/',
    httpOnly: true,
    sameSite: 'Strict',
  });
  await page.goto(url + path);
  await page.waitForSelector('nav[aria-label=Pages]');
}

/** Opens a page of a signed-in tab by the router of the console, as a link does. */
export async function navigate(page: Page, path: string): Promise<void> {
  await page.evaluate(
    `history.pushState(null, '', ${JSON.stringify(`/console${path}`)}); dispatchEvent(new PopStateEvent('popstate'))`,
  );
}

/** Changes a signed-in tab to the test account. On a phone, the switch is in the menu. */
export async function showTestData(page: Page): Promise<void> {
  const menu = await page.$(named('button', 'Open menu'));
  if (await menu?.isVisible()) await menu!.click();
  // The input of a switch is hidden behind its track.
  const label = page.locator('nav label ::-p-text(Test data)');
  await Promise.all([page.waitForNavigation(), label.click()]);
  await page.waitForSelector(named('note', 'Test data'));
}

/** Returns a selector by ARIA role and name. */
export const named = (role: string, name: string) => `::-p-aria([name="${name}"][role="${role}"])`;

/** Clicks the element with an ARIA role and name. */
export const click = (page: Page, role: string, name: string): Promise<void> =>
  page.locator(named(role, name)).click();

/**
 * Replaces the text of the element with an ARIA role and name, or selects one of its options. A
 * dialog that opens moves the focus to its first input, which would receive text that is typed
 * earlier.
 */
export async function fill(page: Page, role: string, name: string, text: string): Promise<void> {
  const input = page.locator(named(role, name));
  await input.wait();
  await page.waitForFunction(
    `document.querySelector('[role=dialog][aria-modal=true]:not([data-had-focus])') === null`,
  );
  await input.fill(text);
}

/** Clicks a button in the table row that contains a text. */
export const clickInRow = (page: Page, text: string, button: string): Promise<void> =>
  page
    .locator(`::-p-xpath(//tr[contains(., "${text}")]//button[contains(., "${button}")])`)
    .click();

/** Clicks a button of the open dialog. */
export const clickInDialog = (page: Page, button: string): Promise<void> =>
  page.locator(`::-p-xpath(//*[@role="dialog"]//button[. = "${button}"])`).click();

/** Interval at which a page is checked: in each frame, the checks would keep it from its work. */
const polling = 50;

/** Waits until the page contains a text. Throws an error with the page's text on a timeout. */
export async function waitForText(page: Page, text: string, withinMs = 15_000): Promise<void> {
  try {
    await page.waitForFunction(`${bodyText}.includes(${JSON.stringify(text)})`, {
      polling,
      timeout: withinMs * slack,
    });
  } catch (error) {
    throw new Error(`page does not show “${text}”:\n${await page.evaluate(bodyText)}`, {
      cause: error,
    });
  }
}

/** Waits until no loading placeholder is left on the page. */
export async function waitForLoaded(page: Page): Promise<void> {
  await page.waitForFunction(loaded, { polling, timeout: 15_000 * slack });
}
