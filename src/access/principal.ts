import { createBoundedMap } from '../base/bounded-map.ts';
import type { Clock } from '../base/clock.ts';
import { idFromName, sha256 } from '../base/id.ts';
import type { Log } from '../base/log.ts';
import { Fault } from '../contract/fault.ts';
import { keyScopes, type Permissions } from '../contract/permission.ts';
import type { ApiKey, Mode, User } from '../store/documents.ts';
import { type BrowserSession, findSession } from '../store/sessions.ts';
import type { Store } from '../store/store.ts';

export interface KeyUsageOptions {
  store: Pick<Store, 'apiKeys'>;
  clock: Clock;
  log: Log;
}

/** Minimum interval between two writes of a key's last use, in milliseconds. */
const writeIntervalMs = 60_000;

/** Memory for keys, in bytes. An evicted key only causes an additional write. */
const maxBytes = 2 * 1024 * 1024;

/**
 * Creates a function that records when a key was used: at most once a minute per key, in the
 * background. It neither delays nor fails the call that used the key.
 */
function createKeyUsage({ store, clock, log }: KeyUsageOptions): (key: ApiKey) => void {
  const written = createBoundedMap<number>({ maxBytes, sizeOf: () => 8 });
  return ({ id, lastUsedAt }) => {
    const now = clock.now();
    // Another process may have written a later time, also before the update.
    if (now - Math.max(written.get(id) ?? 0, lastUsedAt ?? 0) < writeIntervalMs) return;
    written.set(id, now);
    setImmediate(() => {
      const used = store.apiKeys.update({ id, lastUsedAt }, { lastUsedAt: now }, { relaxed: true });
      used.catch((error) => {
        log.warn({ keyId: id, error: Fault.from(error).message }, 'use of a key not written');
      });
    });
  };
}

/** An authenticated caller. A session has the permissions of the key that it stands for. */
export interface Principal extends Permissions {
  userId: string;
  /** User who holds the account: for a test account, the user whose it is. */
  holderId: string;
  /** Mode of the account that the key belongs to. */
  mode: Mode;
  keyId: string;
  /** Maximum credits that the key may spend in total. Null for no limit. */
  creditCeiling: number | null;
  /** Credits of the account, from the same query as the key. */
  balance: number;
  /** The account, from the same query. */
  account: User;
  /** Session that stands for the key. Absent for a call with the key itself. */
  session?: Pick<BrowserSession, 'hash' | 'userId' | 'expiresAt'>;
  /** Headers added to every response to this request. */
  headers?: Readonly<Record<string, string>>;
}

/**
 * Returns the caller for an Authorization header: `Bearer` with an API key, `Session` with the
 * token of a browser's session, or `TestSession` with the same token for the test account of the
 * session's user. Throws `unauthenticated`.
 */
export type Authenticate = (authorization: string | undefined | null) => Promise<Principal>;

export interface AuthenticatorOptions extends KeyUsageOptions {
  store: Pick<Store, 'apiKeys' | 'sessions' | 'users'>;
}

/**
 * Creates the function that authenticates callers (docs/api.md, "Authentication"). It reads the
 * store for every request, so that revoking a key or suspending a user takes effect immediately.
 */
export function createAuthenticator(options: AuthenticatorOptions): Authenticate {
  const { store, clock } = options;
  const used = createKeyUsage(options);
  const principalOf = async (key: ApiKey, user: User): Promise<Principal> => {
    requireValid(key, await holderOf(store, user), clock.now());
    used(key);
    const { id: keyId, creditCeiling } = key;
    const { id: userId, balance } = user;
    return {
      userId,
      holderId: user.testOf ?? userId,
      keyId,
      mode: modeOf(user),
      ...permissionsOf(key),
      creditCeiling,
      balance,
      account: user,
    };
  };
  return async (authorization) => {
    const [, scheme, token] =
      /^(Bearer|Session|TestSession) +([\x21-\x7e]{1,512}) *$/i.exec(authorization ?? '') ?? [];
    if (token === undefined) {
      const isGiven = /^Bearer +\S/i.test(authorization ?? '');
      throw new Fault(
        'unauthenticated',
        isGiven
          ? 'The API key is not valid: it contains other characters than a key has.'
          : 'The API key is missing: send the header Authorization: Bearer <key>.',
      );
    }
    if (!/^Bearer$/i.test(scheme!)) {
      const isTest = /^Test/i.test(scheme!);
      const { session, key, user } = await requireSession(store, sha256(token));
      const principal = await principalOf(key, isTest ? await testAccountOf(store, user) : user);
      requireUnexpired(session, clock.now());
      return { ...principal, session };
    }
    const found = await store.apiKeys.findByHash(sha256(token));
    if (found === null) throw new Fault('unauthenticated', 'The API key is not valid.');
    return principalOf(found.key, found.user);
  };
}

/** Returns the id of a user's test account, which may not exist. */
export const testAccountId = (userId: string): string => idFromName(`test account of ${userId}`);

/** Returns the mode of an account's keys and jobs. */
export const modeOf = ({ testOf }: Pick<User, 'testOf'>): Mode =>
  testOf === null ? 'live' : 'test';

/**
 * Returns the user's test account, or the user itself if it is one. Throws `unauthenticated` if
 * there is none.
 */
async function testAccountOf(store: Pick<Store, 'users'>, user: User): Promise<User> {
  if (modeOf(user) === 'test') return user;
  const account = user.role === 'user' ? await store.users.get(testAccountId(user.id)) : null;
  if (account === null) throw new Fault('unauthenticated', 'The user has no test account.');
  return account;
}

/** Returns the user who holds an account: for a test account, the user whose it is. */
async function holderOf(store: Pick<Store, 'users'>, user: User): Promise<User> {
  if (user.testOf === null) return user;
  const holder = await store.users.get(user.testOf);
  if (holder === null) throw new Fault('unauthenticated', 'The API key is not valid.');
  return holder;
}

function requireValid({ revokedAt, expiresAt }: ApiKey, { suspendedAt }: User, now: number): void {
  if (revokedAt !== null) throw new Fault('unauthenticated', 'The API key has been revoked.');
  if (expiresAt !== null && expiresAt <= now)
    throw new Fault('unauthenticated', 'The API key has expired.');
  if (suspendedAt !== null) throw new Fault('unauthenticated', 'The account is suspended.');
}

/**
 * Checks again, during a long response, that a caller may still call. Returns the user in its
 * current state. Throws `unauthenticated`.
 */
export async function requireStillValid(
  store: Pick<Store, 'apiKeys' | 'sessions' | 'users'>,
  clock: Clock,
  { userId, keyId, session }: Principal,
): Promise<User> {
  const [key, user] = await Promise.all([
    store.apiKeys.get(keyId),
    store.users.get(userId),
    session && requireSession(store, session.hash),
  ]);
  if (key === null || user === null)
    throw new Fault('unauthenticated', 'The API key is not valid.');
  requireValid(key, await holderOf(store, user), clock.now());
  if (session !== undefined) requireUnexpired(session, clock.now());
  return user;
}

/**
 * Returns the session with this hash, its key, and its user. Throws `unauthenticated` if the
 * session ended.
 */
async function requireSession(
  store: Pick<Store, 'apiKeys' | 'sessions' | 'users'>,
  hash: string,
): Promise<{ session: BrowserSession; key: ApiKey; user: User }> {
  const found = await findSession(store, hash);
  if (found === null) throw new Fault('unauthenticated', 'The session has ended. Sign in again.');
  return found;
}

/** Throws the fault `unauthenticated` for an expired session. */
function requireUnexpired({ expiresAt }: Pick<BrowserSession, 'expiresAt'>, now: number): void {
  if (expiresAt <= now)
    throw new Fault('unauthenticated', 'The session has expired. Sign in again.');
}

/** Returns the permissions of a key. A user's key without scopes has every scope. */
export function permissionsOf({ role, scopes, operatorRole }: ApiKey): Permissions {
  return role === 'user'
    ? { role, scopes: scopes ?? keyScopes, operatorRole: null }
    : { role, scopes: [], operatorRole };
}
