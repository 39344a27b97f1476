import type { KeyScope, OperatorRole } from '../../../../src/contract/permission.ts';
import { explainRestError, RestError, readRestError } from '../errors/rest-error.ts';
import { basePath } from './base-path.ts';
import { sessionAddress, takeFirstSession } from './first-session.ts';
import {
  type AccountRole,
  askToSwitch,
  type ConsoleSession,
  currentSession,
  setSession,
} from './session.ts';

/** Header with the session's CSRF token. */
export const csrfHeader = 'x-csrf-token';

/** Item of the tab's storage with the token of the test account that the tab shows. */
const testTokenItem = 'gleaner.test-account';

/** Key of a sign-in link that the service has rejected, and its reason; both empty for none. */
let rejectedLink = { key: '', problem: '' };

/** Returns what the sign-in form contains at first: the key of a link that was rejected. */
export const firstEntry = (): typeof rejectedLink => rejectedLink;

/**
 * Returns the key of a sign-in link, `/console#key=…`; null for another address. Browsers do not
 * send that part of an address.
 */
const readLinkedKey = (): string | null => new URLSearchParams(location.hash.slice(1)).get('key');

/** Key of the link that opened the page, until it is used; null for none. */
let linkedKey = takeLinkedKey();

/** Removes the key of a sign-in link from the address and the history of the browser. */
function takeLinkedKey(): string | null {
  const key = readLinkedKey();
  if (key !== null) history.replaceState(history.state, '', location.pathname + location.search);
  return key;
}

/** Loads the page again for a sign-in link to the page that is open. */
function reloadForLink(): void {
  if (readLinkedKey() !== null) location.reload();
}

/** Connection to the other tabs of the browser, which share the cookie. */
let tabs: BroadcastChannel | undefined;

/**
 * Signs in with the key of a sign-in link, or reads the session of the browser, and reads it again
 * whenever another tab signs in or out. Returns a function that stops.
 */
export function followSession(): () => void {
  const channel = new BroadcastChannel('gleaner.session');
  channel.onmessage = () => void loadSession();
  tabs = channel;
  void (linkedKey === null ? loadSession() : signInByLink(linkedKey));
  linkedKey = null;
  addEventListener('hashchange', reloadForLink);
  return () => {
    removeEventListener('hashchange', reloadForLink);
    channel.close();
  };
}

/**
 * Signs in with the key of a link. Asks first if the browser has a session of another account: a
 * foreign link could lead a user to enter data in another account.
 */
async function signInByLink(key: string): Promise<void> {
  try {
    const session = await readValidSession();
    if (session === null) return await signIn(key);
    const owner = await readKeyOwner(key);
    if (owner.userId === session.userId) return await signIn(key);
    askToSwitch({
      from: session.name,
      to: owner.name,
      accept: () => signIn(key).catch((error) => rejectLink(key, error)),
      decline: () => setSession(session),
    });
  } catch (error) {
    rejectLink(key, error);
  }
}

/** Shows the sign-in form with the key of a link, and the reason. */
function rejectLink(key: string, error: unknown): void {
  rejectedLink = { key, problem: explainRestError(error) };
  setSession(null);
}

/** Returns the account of an API key. Throws a RestError if the key is not valid. */
async function readKeyOwner(key: string): Promise<{ userId: string; name: string }> {
  requireKeyForm(key);
  const response = await fetch(`${basePath}/gleaner.session.v1.SessionService/GetSession`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: '{}',
  });
  const body = await response.json();
  if (!response.ok) throw new RestError(response.status, 'Sign-in failed', body.message);
  return body.session;
}

/**
 * Exchanges an API key for a session of this browser. Throws a RestError if the key is not valid.
 */
export async function signIn(key: string): Promise<void> {
  requireKeyForm(key);
  await request('POST', { authorization: `Bearer ${key}` });
  const session = await readSession();
  if (session === null) {
    const message =
      'The browser did not keep the session cookie. Open the console at its https address.';
    throw new RestError(200, 'Sign-in failed', message);
  }
  rejectedLink = { key: '', problem: '' };
  setSession(session);
  tabs?.postMessage('changed');
}

/** Throws a RestError for a text that no header can contain as a key. */
function requireKeyForm(key: string): void {
  if (!/^[\x21-\x7e]+$/.test(key))
    throw new RestError(400, 'Sign-in failed', 'Enter your API key. It has no spaces.');
}

/**
 * Ends the session of this browser, or every session of the account. Throws a RestError if that
 * fails.
 */
export async function signOut(everywhere: boolean): Promise<void> {
  const csrfToken = currentSession()?.csrfToken ?? '';
  await request('DELETE', { [csrfHeader]: csrfToken }, everywhere ? '?everywhere=true' : '');
  setSession(null);
  tabs?.postMessage('changed');
}

/**
 * Shows the test account of the session's user in this tab, or the live one again. The console
 * loads the page again, since it contains data of the other account. Throws a RestError if the
 * service has no sandbox.
 */
export async function changeMode(): Promise<void> {
  const session = currentSession();
  if (session?.other == null) return;
  const { mode, csrfToken } = session.other;
  if (mode === 'test') {
    await request('POST', { [csrfHeader]: session.csrfToken }, '/test');
    sessionStorage.setItem(testTokenItem, csrfToken);
  } else sessionStorage.removeItem(testTokenItem);
  // A page with an id belongs to the account that is left: its list is shown instead.
  const console = `${basePath}/console/`;
  const [page = '', ...rest] = location.pathname.slice(console.length).split('/');
  location.assign(`${console}${page === 'submit' ? [page, ...rest].join('/') : page}`);
}

async function loadSession(): Promise<void> {
  try {
    showSession(await readSession());
  } catch (error) {
    setSession(null, explainRestError(error));
  }
}

/** Shows the console of a session, or the sign-in page for null. */
function showSession(session: ConsoleSession | null, message = ''): void {
  const previousSession = currentSession();
  if (previousSession === null || session === null) setSession(session, message);
  // The page contains data of the earlier session.
  else if (session.csrfToken !== previousSession.csrfToken) location.reload();
}

/**
 * Handles a request that the service rejected as unauthenticated: another tab may have signed in,
 * else the session has ended.
 */
export async function sessionRejected(rejected: ConsoleSession, message: string): Promise<void> {
  const isCurrent = () => currentSession()?.csrfToken === rejected.csrfToken;
  if (!isCurrent()) return;
  const session = await readSession().catch(() => null);
  if (isCurrent()) showSession(session, message);
}

/** Returns the session of the browser's cookie; null without one, or once it has ended. */
async function readValidSession(): Promise<ConsoleSession | null> {
  try {
    return await readSession();
  } catch (error) {
    if (error instanceof RestError && error.status === 401) return null;
    throw error;
  }
}

/**
 * Returns the session of the browser's cookie, or null if there is none. Throws a RestError if it
 * has ended.
 */
async function readSession(): Promise<ConsoleSession | null> {
  const response = await request('GET', {});
  if (response.status === 204) return null;
  const found = (await response.json()) as {
    user_id: string;
    csrf_token: string;
    test_csrf_token: string | null;
    role: AccountRole;
    name: string;
    scopes: KeyScope[];
    operator_role: OperatorRole | null;
    has_ceiling: boolean;
    mode: string;
  };
  const { csrf_token: liveToken, test_csrf_token: testToken, role, name, scopes } = found;
  const common = {
    userId: found.user_id,
    role,
    name,
    scopes,
    operatorRole: found.operator_role,
    hasCeiling: found.has_ceiling,
  };
  if (testToken !== null && sessionStorage.getItem(testTokenItem) === testToken)
    return {
      ...common,
      csrfToken: testToken,
      isTest: true,
      other: { mode: 'live', csrfToken: liveToken },
    };
  const other = testToken === null ? null : ({ mode: 'test', csrfToken: testToken } as const);
  return {
    ...common,
    csrfToken: liveToken,
    isTest: found.mode === 'test',
    other,
  };
}

async function request(
  method: string,
  headers: Record<string, string>,
  rest = '',
): Promise<Response> {
  const first = method === 'GET' ? takeFirstSession() : undefined;
  const response = await (first ?? fetch(sessionAddress + rest, { method, headers }));
  if (!response.ok) throw await readRestError(response);
  return response;
}
