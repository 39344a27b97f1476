import type { Clock } from '../base/clock.ts';
import { sha256 } from '../base/id.ts';
import { Fault } from '../contract/fault.ts';
import type { ApiKey, Role, User } from '../store/documents.ts';
import type { AccountStore } from '../store/store.ts';
import { createKeyUsage, type KeyUsageOptions } from './key-use.ts';

/** Who is calling. */
export interface Principal {
  userId: string;
  role: Role;
  keyId: string;
  /** Credits of the account, from the same read as the key. */
  balance: number;
  /** Headers of every response to this request. */
  headers?: Readonly<Record<string, string>>;
}

/** Finds out who calls from an `Authorization: Bearer <key>` header. Fault `unauthenticated`. */
export type Authenticate = (authorization: string | undefined | null) => Promise<Principal>;

/** What callers are told apart with. */
export interface AuthenticatorOptions extends KeyUsageOptions {
  store: Pick<AccountStore, 'findApiKey' | 'touchApiKey'>;
}

/**
 * Makes what finds out who calls (interface, "Authentication"). The store is asked every time, so that a
 * revoked key and the keys of a suspended user stop at once.
 */
export function createAuthenticator(options: AuthenticatorOptions): Authenticate {
  const { store, clock } = options;
  const used = createKeyUsage(options);
  return async (authorization) => {
    const token = /^Bearer +([\x21-\x7e]{1,512}) *$/i.exec(authorization ?? '')?.[1];
    if (token === undefined) throw new Fault('unauthenticated', 'A Bearer token is missing.');
    const found = await store.findApiKey(sha256(token));
    if (found === null) throw new Fault('unauthenticated', 'The token is not valid.');
    const { key, user } = found;
    requireValid(key, user, clock.now());
    used(key);
    return { userId: key.userId, role: key.role, keyId: key.id, balance: user.balance };
  };
}

function requireValid({ revokedAt, expiresAt }: ApiKey, { suspendedAt }: User, now: number): void {
  if (revokedAt !== null) throw new Fault('unauthenticated', 'The token has been revoked.');
  if (expiresAt !== null && expiresAt <= now) throw new Fault('unauthenticated', 'The token has expired.');
  if (suspendedAt !== null) throw new Fault('unauthenticated', 'The account is suspended.');
}

/** Asks again whether a principal may call, in the middle of a long answer; gives the user as it is then. Fault
 *  `unauthenticated`. */
export async function requireStillValid(
  store: Pick<AccountStore, 'listApiKeys' | 'getUser'>,
  clock: Clock,
  { userId, keyId }: Principal,
): Promise<User> {
  const [keys, user] = await Promise.all([store.listApiKeys(userId), store.getUser(userId)]);
  const key = keys.find(({ id }) => id === keyId);
  if (key === undefined || user === null) throw new Fault('unauthenticated', 'The token is not valid.');
  requireValid(key, user, clock.now());
  return user;
}

/** Refuses a principal of another role: a key of one role never works for the other's calls. */
export function requireRole(principal: Principal, role: Role): void {
  if (principal.role !== role) {
    throw new Fault('forbidden', `This call needs the key of ${role === 'user' ? 'a user' : 'an operator'}.`);
  }
}
