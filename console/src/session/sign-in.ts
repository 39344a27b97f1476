import type { KeyScope, OperatorRole } from '../../../src/contract/permission.ts';
import { describeError } from '../errors/describe.ts';
import { RestError, readRestError } from '../errors/rest-error.ts';
import { currentSession, type Role, type Session, setSession } from './session.ts';

/** Address of the browser's session. */
const address = '/console/session';

/** Header with the session's CSRF token. */
export const csrfHeader = 'x-csrf-token';

/** Connection to the other tabs of the browser, which share the cookie. */
let tabs: BroadcastChannel | undefined;

/** Reads the session of the browser, and again whenever another tab signs in or out. Returns a function that stops. */
export function followSession(): () => void {
  const channel = new BroadcastChannel('gleaner.session');
  channel.onmessage = () => void loadSession();
  tabs = channel;
  void loadSession();
  return () => channel.close();
}

/** Exchanges an API key for a session of this browser. Throws a RestError if the key is not valid. */
export async function signIn(key: string): Promise<void> {
  await request('POST', { authorization: `Bearer ${key}` });
  const session = await readSession();
  if (session === null) {
    const message = 'The browser did not keep the session cookie. Open the console at its https address.';
    throw new RestError(200, 'Sign-in failed', message);
  }
  setSession(session);
  tabs?.postMessage('changed');
}

/** Ends the session of this browser, or every session of the account. Throws a RestError if that fails. */
export async function signOut(everywhere: boolean): Promise<void> {
  const csrfToken = currentSession()?.csrfToken ?? '';
  await request('DELETE', { [csrfHeader]: csrfToken }, everywhere ? '?everywhere=true' : '');
  setSession(null);
  tabs?.postMessage('changed');
}

async function loadSession(): Promise<void> {
  try {
    showSession(await readSession());
  } catch (error) {
    setSession(null, describeError(error).detail);
  }
}

/** Shows the console of a session, or the sign-in page for null. */
function showSession(session: Session | null, message = ''): void {
  const known = currentSession();
  if (known === null || session === null) setSession(session, message);
  // The page contains data of the earlier session.
  else if (session.csrfToken !== known.csrfToken) location.reload();
}

/**
 * Handles a request that the service rejected as unauthenticated: another tab may have signed in, else the session has
 * ended.
 */
export async function sessionRejected(rejected: Session, message: string): Promise<void> {
  const isCurrent = () => currentSession()?.csrfToken === rejected.csrfToken;
  if (!isCurrent()) return;
  const session = await readSession().catch(() => null);
  if (isCurrent()) showSession(session, message);
}

/** Returns the session of the browser's cookie, null without one. Throws a RestError if it has ended. */
async function readSession(): Promise<Session | null> {
  const response = await request('GET', {});
  if (response.status === 204) return null;
  const found = (await response.json()) as {
    csrf_token: string;
    role: Role;
    name: string;
    scopes: KeyScope[];
    operator_role: OperatorRole | null;
    has_ceiling: boolean;
    mode: string;
  };
  const { csrf_token: csrfToken, role, name, scopes, operator_role: operatorRole } = found;
  const isTest = found.mode === 'test';
  return { csrfToken, role, name, isTest, scopes, operatorRole, hasCeiling: found.has_ceiling };
}

async function request(method: string, headers: Record<string, string>, query = ''): Promise<Response> {
  const response = await fetch(address + query, { method, headers });
  if (!response.ok) throw await readRestError(response);
  return response;
}
