import { newApiKey, newId, sha256 } from '../base/id.ts';
import { Fault } from '../contract/fault.ts';
import { type KeyScope, keyScopes, type OperatorRole } from '../contract/permission.ts';
import type { Role } from '../store/documents.ts';
import type { AccountStore } from '../store/store.ts';

/** An API key to create. */
export interface KeyRequest {
  userId: string;
  role: Role;
  name: string;
  createdAt: number;
  expiresAt: number | null;
  /** The secret, if it must not be generated. */
  secret?: string;
  /** Scopes of a user's key; every scope if empty or absent. */
  scopes?: readonly KeyScope[];
  /** Role of an operator's key; default: admin. */
  operatorRole?: OperatorRole;
  /** Maximum credits that a user's key may spend; no limit if absent. */
  creditCeiling?: number;
}

/** Maximum keys of an account that are neither revoked nor expired. */
const maxUsableKeys = 100;

/** Throws fault `conflict` if an account has the maximum of usable keys. Concurrent calls may exceed it by their number. */
export async function requireKeyRoom(
  store: Pick<AccountStore, 'listApiKeys'>,
  userId: string,
  now: number,
): Promise<void> {
  const keys = await store.listApiKeys(userId);
  const usable = keys.filter(
    ({ revokedAt, expiresAt }) => revokedAt === null && (expiresAt === null || expiresAt > now),
  );
  if (usable.length < maxUsableKeys) return;
  throw new Fault('conflict', `The account has ${maxUsableKeys} usable keys, the maximum. Revoke one first.`);
}

/** The last moment that every client can represent. */
const latest = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

/**
 * Creates an API key. Only the return value contains the secret; the store keeps its hash. Does nothing for a secret
 * that is already a key. Throws fault `invalid` for an expiry in the past.
 */
export async function createKey(
  store: Pick<AccountStore, 'createApiKey'>,
  request: KeyRequest,
): Promise<{ keyId: string; apiKey: string }> {
  const {
    secret = newApiKey(),
    scopes = [],
    operatorRole = 'admin',
    creditCeiling = null,
    ...rest
  } = request;
  const { expiresAt, createdAt, role } = request;
  if (expiresAt !== null && !(expiresAt > createdAt && expiresAt <= latest)) {
    const msg = 'Value must be a time in the future, before the year 10000';
    throw Fault.invalid(['body', 'expires_at'], msg, 'value_error');
  }
  const key = {
    ...rest,
    id: newId(),
    hash: sha256(secret),
    prefix: secret.slice(0, secret.startsWith('gl_test_') ? 12 : 7),
    revokedAt: null,
    lastUsedAt: null,
    scopes:
      role === 'operator' || scopes.length === 0 ? null : keyScopes.filter((one) => scopes.includes(one)),
    operatorRole: role === 'operator' ? operatorRole : null,
    creditCeiling,
    creditsSpent: 0,
  };
  await store.createApiKey(key);
  return { keyId: key.id, apiKey: secret };
}
