import type { Clock } from '../base/clock.ts';
import { sha256 } from '../base/id.ts';
import { Fault } from '../contract/fault.ts';
import type { ApiKey, Role, User } from '../store/documents.ts';
import type { BrowserSession, SessionStore } from '../store/sessions.ts';
import type { AccountStore } from '../store/store.ts';
import { requireSession, requireUnexpired } from './browser-session.ts';
import { createKeyUse, type KeyUseOptions } from './key-use.ts';

/** Who is calling. */
export interface Principal {
  userId: string;
  role: Role;
  keyId: string;
  /** Credits of the account, from the same read as the key. */
  balance: number;
  /** Session that stands for the key; absent for a call with the key itself. */
  session?: Pick<BrowserSession, 'hash' | 'expiresAt'>;
  /** Headers of every response to this request. */
  headers?: Readonly<Record<string, string>>;
}

/**
 * Authenticates a caller from an Authorization header: `Bearer` with an API key, or `Session` with the token of a
 * browser's session. Fault `unauthenticated`.
 */
export type Authenticate = (authorization: string | undefined | null) => Promise<Principal>;

/** What callers are told apart with. */
export interface AuthenticatorOptions extends KeyUseOptions {
  store: Pick<AccountStore, 'findApiKey' | 'touchApiKey'> & Pick<SessionStore, 'findSession'>;
}

/**
 * Makes what finds out who calls (interface, "Authentication"). The store is asked every time, so that a
 * revoked key and the keys of a suspended user stop at once.
 */
export function createAuthenticator(options: AuthenticatorOptions): Authenticate {
  const { store, clock } = options;
  const used = createKeyUse(options);
  const principalOf = (key: ApiKey, user: User): Principal => {
    demandValid(key, user, clock.now());
    used(key);
    return { userId: key.userId, role: key.role, keyId: key.id, balance: user.balance };
  };
  return async (authorization) => {
    const [, scheme, token] = /^(Bearer|Session) +([\x21-\x7e]{1,512}) *$/i.exec(authorization ?? '') ?? [];
    if (token === undefined) throw new Fault('unauthenticated', 'A Bearer token is missing.');
    if (scheme!.toLowerCase() === 'session') {
      const { session, key, user } = await requireSession(store, sha256(token));
      const principal = principalOf(key, user);
      requireUnexpired(session, clock.now());
      return { ...principal, session };
    }
    const found = await store.findApiKey(sha256(token));
    if (found === null) throw new Fault('unauthenticated', 'The token is not valid.');
    return principalOf(found.key, found.user);
  };
}

function demandValid({ revokedAt, expiresAt }: ApiKey, { suspendedAt }: User, now: number): void {
  if (revokedAt !== null) throw new Fault('unauthenticated', 'The token has been revoked.');
  if (expiresAt !== null && expiresAt <= now) throw new Fault('unauthenticated', 'The token has expired.');
  if (suspendedAt !== null) throw new Fault('unauthenticated', 'The account is suspended.');
}

/** Asks again whether a principal may call, in the middle of a long answer; gives the user as it is then. Fault
 *  `unauthenticated`. */
export async function demandStillValid(
  store: Pick<AccountStore, 'listApiKeys' | 'getUser'> & Pick<SessionStore, 'findSession'>,
  clock: Clock,
  { userId, keyId, session }: Principal,
): Promise<User> {
  const [keys, user] = await Promise.all([
    store.listApiKeys(userId),
    store.getUser(userId),
    session && requireSession(store, session.hash),
  ]);
  const key = keys.find(({ id }) => id === keyId);
  if (key === undefined || user === null) throw new Fault('unauthenticated', 'The token is not valid.');
  demandValid(key, user, clock.now());
  if (session !== undefined) requireUnexpired(session, clock.now());
  return user;
}

/** Refuses a principal of another role: a key of one role never works for the other's calls. */
export function demandRole(principal: Principal, role: Role): void {
  if (principal.role !== role) {
    throw new Fault('forbidden', `This call needs the key of ${role === 'user' ? 'a user' : 'an operator'}.`);
  }
}
