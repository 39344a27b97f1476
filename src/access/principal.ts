import type { Clock } from '../base/clock.ts';
import { Fault } from '../base/fault.ts';
import { sha256 } from '../base/id.ts';
import type { Role } from '../store/documents.ts';
import type { AccountStore } from '../store/store.ts';

/** Who is calling. */
export interface Principal {
  userId: string;
  role: Role;
  keyId: string;
}

/**
 * Finds out who calls from an `Authorization: Bearer <key>` header (interface, "Authentication").
 * The store is asked every time, so that a revoked key stops at once. Fault `unauthenticated`.
 */
export async function authenticate(
  store: AccountStore,
  clock: Clock,
  authorization: string | undefined | null,
): Promise<Principal> {
  const token = /^Bearer +([\x21-\x7e]{1,512}) *$/i.exec(authorization ?? '')?.[1];
  if (token === undefined) throw new Fault('unauthenticated', 'A Bearer token is missing.');
  const key = await store.findApiKey(sha256(token));
  if (key === null) throw new Fault('unauthenticated', 'The token is not valid.');
  if (key.revokedAt !== null) throw new Fault('unauthenticated', 'The token has been revoked.');
  if (key.expiresAt !== null && key.expiresAt <= clock.now()) {
    throw new Fault('unauthenticated', 'The token has expired.');
  }
  return { userId: key.userId, role: key.role, keyId: key.id };
}

/** Refuses a principal of another role: a key of one role never works for the other's calls. */
export function demandRole(principal: Principal, role: Role): void {
  if (principal.role !== role) {
    throw new Fault('forbidden', `This call needs the key of ${role === 'user' ? 'a user' : 'an operator'}.`);
  }
}
