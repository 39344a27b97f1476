import type { Clock } from '../base/clock.ts';
import { sha256 } from '../base/id.ts';
import { Fault } from '../contract/fault.ts';
import { keyScopes, type Permissions } from '../contract/permission.ts';
import type { ApiKey, Mode, User } from '../store/documents.ts';
import type { BrowserSession, SessionStore } from '../store/sessions.ts';
import type { AccountStore } from '../store/store.ts';
import { createKeyUsage, type KeyUsageOptions } from './key-use.ts';
import { modeOf, testAccountId } from './test-account.ts';

/** An authenticated caller. A session has the permissions of the key that it stands for. */
export interface Principal extends Permissions {
  userId: string;
  /** User who holds the account: for a test account, the user whose it is. */
  holderId: string;
  /** Mode of the account that the key belongs to. */
  mode: Mode;
  keyId: string;
  /** Maximum credits that the key may spend in total; null for no limit. */
  creditCeiling: number | null;
  /** Credits of the account, from the same query as the key. */
  balance: number;
  /** Session that stands for the key; absent for a call with the key itself. */
  session?: Pick<BrowserSession, 'hash' | 'userId' | 'expiresAt'>;
  /** Headers added to every response to this request. */
  headers?: Readonly<Record<string, string>>;
}

/**
 * Returns the caller for an Authorization header: `Bearer` with an API key, `Session` with the token of a browser's
 * session, or `TestSession` with the same token for the test account of the session's user. Throws fault
 * `unauthenticated`.
 */
export type Authenticate = (authorization: string | undefined | null) => Promise<Principal>;

/** Options for createAuthenticator(). */
export interface AuthenticatorOptions extends KeyUsageOptions {
  store: Pick<AccountStore, 'findApiKey' | 'getUser' | 'touchApiKey'> & Pick<SessionStore, 'findSession'>;
}

/**
 * Creates the function that authenticates callers (docs/api.md, "Authentication"). It reads the store for every
 * request, so that revoking a key or suspending a user takes effect immediately.
 */
export function createAuthenticator(options: AuthenticatorOptions): Authenticate {
  const { store, clock } = options;
  const used = createKeyUsage(options);
  const principalOf = async (key: ApiKey, user: User): Promise<Principal> => {
    requireValid(key, await holderOf(store, user), clock.now());
    used(key);
    const { id: keyId, creditCeiling } = key;
    const { id: userId, balance } = user;
    const holderId = user.testOf ?? userId;
    return { userId, holderId, keyId, mode: modeOf(user), ...permissionsOf(key), creditCeiling, balance };
  };
  return async (authorization) => {
    const [, scheme, token] =
      /^(Bearer|Session|TestSession) +([\x21-\x7e]{1,512}) *$/i.exec(authorization ?? '') ?? [];
    if (token === undefined) throw new Fault('unauthenticated', 'A Bearer token is missing.');
    if (!/^Bearer$/i.test(scheme!)) {
      const isTest = /^Test/i.test(scheme!);
      const { session, key, user } = await requireSession(store, sha256(token));
      const principal = await principalOf(key, isTest ? await testAccountOf(store, user) : user);
      requireUnexpired(session, clock.now());
      return { ...principal, session };
    }
    const found = await store.findApiKey(sha256(token));
    if (found === null) throw new Fault('unauthenticated', 'The API key is not valid.');
    return principalOf(found.key, found.user);
  };
}

/** Returns the test account of a user; a test account itself. Fault `unauthenticated` if there is none. */
async function testAccountOf(store: Pick<AccountStore, 'getUser'>, user: User): Promise<User> {
  if (modeOf(user) === 'test') return user;
  const account = user.role === 'user' ? await store.getUser(testAccountId(user.id)) : null;
  if (account === null) throw new Fault('unauthenticated', 'The user has no test account.');
  return account;
}

/** Returns the user who holds an account: for a test account, the user whose it is. */
async function holderOf(store: Pick<AccountStore, 'getUser'>, user: User): Promise<User> {
  if (user.testOf === null) return user;
  const holder = await store.getUser(user.testOf);
  if (holder === null) throw new Fault('unauthenticated', 'The API key is not valid.');
  return holder;
}

function requireValid({ revokedAt, expiresAt }: ApiKey, { suspendedAt }: User, now: number): void {
  if (revokedAt !== null) throw new Fault('unauthenticated', 'The API key has been revoked.');
  if (expiresAt !== null && expiresAt <= now) throw new Fault('unauthenticated', 'The API key has expired.');
  if (suspendedAt !== null) throw new Fault('unauthenticated', 'The account is suspended.');
}

/**
 * Checks again, during a long response, that a caller may still call. Returns the user in its current state. Throws
 * fault `unauthenticated`.
 */
export async function requireStillValid(
  store: Pick<AccountStore, 'getApiKey' | 'getUser'> & Pick<SessionStore, 'findSession'>,
  clock: Clock,
  { userId, keyId, session }: Principal,
): Promise<User> {
  const [key, user] = await Promise.all([
    store.getApiKey(keyId),
    store.getUser(userId),
    session && requireSession(store, session.hash),
  ]);
  if (key === null || user === null) throw new Fault('unauthenticated', 'The API key is not valid.');
  requireValid(key, await holderOf(store, user), clock.now());
  if (session !== undefined) requireUnexpired(session, clock.now());
  return user;
}

/** Returns the session with this hash, its key, and its user. Fault `unauthenticated` if the session ended. */
async function requireSession(
  store: Pick<SessionStore, 'findSession'>,
  hash: string,
): Promise<{ session: BrowserSession; key: ApiKey; user: User }> {
  const found = await store.findSession(hash);
  if (found === null) throw new Fault('unauthenticated', 'The session has ended. Sign in again.');
  return found;
}

/** Throws the fault `unauthenticated` for an expired session. */
function requireUnexpired({ expiresAt }: Pick<BrowserSession, 'expiresAt'>, now: number): void {
  if (expiresAt <= now) throw new Fault('unauthenticated', 'The session has expired. Sign in again.');
}

/** Returns what a key allows. A key without scopes or operator role allows everything that its role does. */
export function permissionsOf({ role, scopes, operatorRole }: ApiKey): Permissions {
  return role === 'user'
    ? { role, scopes: scopes ?? keyScopes, operatorRole: null }
    : { role, scopes: [], operatorRole: operatorRole ?? 'admin' };
}
