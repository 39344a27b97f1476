import { Fault } from '../base/fault.ts';
import { sha256 } from '../base/id.ts';
import type { Role } from '../store/documents.ts';
import type { AccountStore } from '../store/store.ts';
import { createKeyUse, type KeyUseOptions } from './key-use.ts';

/** Who is calling. */
export interface Principal {
  userId: string;
  role: Role;
  keyId: string;
  /** Credits of the account, from the same read as the key. */
  balance: number;
}

/** Finds out who calls from an `Authorization: Bearer <key>` header. Fault `unauthenticated`. */
export type Authenticate = (authorization: string | undefined | null) => Promise<Principal>;

/** What callers are told apart with. */
export interface AuthenticatorOptions extends KeyUseOptions {
  store: Pick<AccountStore, 'findApiKey' | 'touchApiKey'>;
}

/**
 * Makes what finds out who calls (interface, "Authentication"). The store is asked every time, so that a
 * revoked key and the keys of a suspended user stop at once.
 */
export function createAuthenticator(options: AuthenticatorOptions): Authenticate {
  const { store, clock } = options;
  const used = createKeyUse(options);
  return async (authorization) => {
    const token = /^Bearer +([\x21-\x7e]{1,512}) *$/i.exec(authorization ?? '')?.[1];
    if (token === undefined) throw new Fault('unauthenticated', 'A Bearer token is missing.');
    const found = await store.findApiKey(sha256(token));
    if (found === null) throw new Fault('unauthenticated', 'The token is not valid.');
    const { key, user } = found;
    if (key.revokedAt !== null) throw new Fault('unauthenticated', 'The token has been revoked.');
    if (key.expiresAt !== null && key.expiresAt <= clock.now()) {
      throw new Fault('unauthenticated', 'The token has expired.');
    }
    if (user.suspendedAt !== null) throw new Fault('unauthenticated', 'The account is suspended.');
    used(key);
    return { userId: key.userId, role: key.role, keyId: key.id, balance: user.balance };
  };
}

/** Refuses a principal of another role: a key of one role never works for the other's calls. */
export function demandRole(principal: Principal, role: Role): void {
  if (principal.role !== role) {
    throw new Fault('forbidden', `This call needs the key of ${role === 'user' ? 'a user' : 'an operator'}.`);
  }
}
