import type { Browser, Page } from 'puppeteer-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { chromium, skipped } from '../browser/chromium.ts';
import { type ConsoleEnvironment, sharedConsole } from './environment.ts';
import {
  click,
  fill,
  leaveBrowser,
  named,
  openBrowser,
  openTab,
  signIn,
  type Tab,
  waitForText,
} from './tab.ts';

const cookieName = expect.stringMatching(/^gleaner_session_\d+$/);

describe.skipIf('missing' in chromium)(`sessions of the console${skipped}`, () => {
  let env: ConsoleEnvironment;
  let browser: Browser;
  beforeAll(async () => {
    [env, browser] = await Promise.all([sharedConsole(), openBrowser()]);
  });
  afterAll(async () => {
    if (browser) await leaveBrowser(browser);
  });

  const createUser = async (name: string) => {
    const { user } = await env.api.operator('CreateUser', { name });
    const created = await env.api.operator('CreateApiKey', { user_id: user.id, name: 'first' });
    return { key: created.apiKey as string, keyId: created.keyId as string };
  };
  const openSignedIn = async (key: string): Promise<Tab> => {
    const tab = await openTab(browser);
    await signIn(tab, env.url, key);
    return tab;
  };
  const signOut = async (page: Page, name: string, item: string) => {
    await click(page, 'button', name);
    await click(page, 'menuitem', item);
  };
  const showsSignIn = (page: Page) => page.waitForSelector(named('textbox', 'API key'));
  const showsConsole = (page: Page) => page.waitForSelector('nav[aria-label=Pages]');

  test('keep the key and the token from scripts, and survive a reload and a restart of the service', async () => {
    const { key } = await createUser('Anna');
    const { page, close } = await openSignedIn(key);
    const [cookie] = await page.browserContext().cookies();
    expect(cookie).toMatchObject({ name: cookieName, httpOnly: true, sameSite: 'Strict' });
    const visible = `JSON.stringify([document.cookie, { ...localStorage }, { ...sessionStorage }])`;
    const text = String(await page.evaluate(visible));
    expect(text).not.toContain(key);
    expect(text).not.toContain(cookie!.value);
    await page.reload();
    await showsConsole(page);
    await env.deployment.restart({});
    await page.reload();
    await showsConsole(page);
    await waitForText(page, 'Anna');
    await close();
  });

  test('start at once from a link with a key, which leaves the address', async () => {
    const { key } = await createUser('Cara');
    const { page, close } = await openTab(browser);
    await page.goto(`${env.url}#key=${key}`);
    await showsConsole(page);
    expect(page.url()).not.toContain(key);
    await waitForText(page, 'Cara');
    await close();
  });

  test('start from a link of another account only once the user agrees', async () => {
    const { page, close } = await openSignedIn((await createUser('Carl')).key);
    const openLink = () => page.goto(`${env.url}#key=${env.deployment.operatorKey}`);
    await waitForText(page, 'Carl');
    await openLink();
    await waitForText(page, 'You are signed in as Carl. Sign in as operator instead?');
    expect(page.url()).toBe(env.url);
    await click(page, 'button', 'Stay');
    await waitForText(page, 'Carl');
    await showsConsole(page);
    await page.reload();
    await waitForText(page, 'Carl');
    await openLink();
    await click(page, 'button', 'Switch account');
    await waitForText(page, 'Approvals');
    await close();
  });

  test('start from a link of the same account at once', async () => {
    const { key } = await createUser('Clio');
    const { page, close } = await openSignedIn(key);
    const cookieValues = async () =>
      (await page.browserContext().cookies()).map(({ value }) => value);
    const previousValues = await cookieValues();
    await page.goto(`${env.url}/keys#key=${key}`);
    await waitForText(page, 'Create key');
    expect(await cookieValues()).not.toEqual(previousValues);
    await close();
  });

  test('stay if the key of a link is not valid', async () => {
    const { page, close } = await openSignedIn((await createUser('Cora')).key);
    await page.goto(`${env.url}#key=unknown`);
    await waitForText(page, 'The API key is not valid.');
    await page.reload();
    await showsConsole(page);
    await waitForText(page, 'Cora');
    await close();
  });

  test('do not start from a link with another key, whose form has the reason and the focus', async () => {
    const { page, close } = await openTab(browser);
    await page.goto(`${env.url}#key=unknown`);
    await waitForText(page, 'The API key is not valid.');
    const input = `document.activeElement.matches('input') && document.activeElement.value`;
    expect(await page.evaluate(input)).toBe('unknown');
    expect(page.url()).toBe(env.url);
    await close();
  });

  test('that end while a form is filled in leave its inputs for the next sign-in', async () => {
    const { key } = await createUser('Cory');
    const { page, close } = await openSignedIn(key);
    await page.goto(`${env.url}/submit/mkte/pdp_bulk`);
    await page.locator('main select').fill('de');
    await fill(page, 'textbox', 'Items', 'B0GLN01001\nB0GLN01002');
    await waitForText(page, '2 units in the list.');
    const context = page.browserContext();
    await context.deleteCookie(...(await context.cookies()));
    await click(page, 'button', 'Submit 2 units');
    await waitForText(page, 'You have been signed out');
    await fill(page, 'textbox', 'API key', key);
    await click(page, 'button', 'Sign in');
    await waitForText(page, '2 units in the list.');
    expect(await page.evaluate(`document.querySelector('main select').value`)).toBe('de');
    await close();
  });

  test('start with the focus in the field for the key', async () => {
    const { key } = await createUser('Cleo');
    const { page, close } = await openTab(browser);
    await page.goto(env.url);
    await showsSignIn(page);
    await page.keyboard.type(key);
    await page.keyboard.press('Enter');
    await showsConsole(page);
    await close();
  });

  test('hold in every tab of the browser, and end in all of them', async () => {
    const { key } = await createUser('Budi');
    const { page, close } = await openSignedIn(key);
    const second = await page.browserContext().newPage();
    await second.goto(`${env.url}/keys`);
    await showsConsole(second);
    // A page in the background is not painted.
    await page.bringToFront();
    await signOut(page, 'Budi', 'Sign out');
    await showsSignIn(page);
    await second.bringToFront();
    await showsSignIn(second);
    await page.bringToFront();
    expect(await page.browserContext().cookies()).toEqual([]);
    await fill(page, 'textbox', 'API key', key);
    await click(page, 'button', 'Sign in');
    await showsConsole(page);
    await second.bringToFront();
    await showsConsole(second);
    await close();
  });

  test('end in other browsers at "Sign out everywhere"', async () => {
    const { key } = await createUser('Clara');
    const [one, two] = [await openSignedIn(key), await openSignedIn(key)];
    await signOut(one.page, 'Clara', 'Sign out everywhere');
    await showsSignIn(one.page);
    await two.page.reload();
    await waitForText(two.page, 'The session has ended. Sign in again.');
    await Promise.all([one.close(), two.close()]);
  });

  test('end with a reason when their key is revoked', async () => {
    const { key, keyId } = await createUser('Dora');
    const { page, close } = await openSignedIn(key);
    await env.api.operator('RevokeApiKey', { key_id: keyId });
    await page.goto(`${env.url}/jobs`);
    await waitForText(page, 'The API key has been revoked.');
    await close();
  });

  test('are not sent with the requests of another site', async () => {
    const { key } = await createUser('Emma');
    const { page, close } = await openSignedIn(key);
    const attack = await page.browserContext().newPage();
    // The same service under another site's name.
    const foreign = env.url.replace('127.0.0.1', 'localhost');
    await attack.goto(`${foreign.replace(/console$/, '')}health`);
    const target = new URL(env.url).origin;
    const statuses = await attack.evaluate(`Promise.all([
      fetch('${target}/v1/account', { credentials: 'include' }).then(({ status }) => status, () => 'blocked'),
      fetch('${target}/console/session', { method: 'DELETE', credentials: 'include' }).then(({ status }) => status, () => 'blocked'),
    ])`);
    expect(statuses).toEqual(['blocked', 'blocked']);
    await page.reload();
    await showsConsole(page);
    await close();
  });
});
