import { keyPrefix, newApiKey, newId, sha256 } from '../base/id.ts';
import { Fault } from '../contract/fault.ts';
import { type KeyScope, keyScopes, type OperatorRole } from '../contract/permission.ts';
import type { ApiKey } from '../store/documents.ts';
import type { Store } from '../store/store.ts';

/** An API key to create. */
export interface KeyRequest
  extends Pick<ApiKey, 'userId' | 'role' | 'name' | 'createdAt' | 'expiresAt'> {
  /** Id of the key, if it must not be generated. */
  id?: string;
  /** The secret, if it must not be generated. */
  secret?: string;
  /** Scopes of a user's key. Every scope if empty or absent. */
  scopes?: readonly KeyScope[];
  /** Role of an operator's key. Default: admin. */
  operatorRole?: OperatorRole;
  /** Maximum credits that a user's key may spend. No limit if absent. */
  creditCeiling?: number;
}

/** Maximum keys of an account that are neither revoked nor expired. */
const maxUsableKeys = 100;
/** Ended keys that an account keeps in any case, the last that ended. */
const keptEndedKeys = 100;
/**
 * Time after its end during which a key is kept, in milliseconds: a job that awaits approval for at
 * most 24 hours is charged to the credit ceiling of its key.
 */
const keptEndedMs = 48 * 3_600_000;
/** Maximum keys of an account together with its ended ones. */
const maxKeys = 10_000;

/** Returns when a key was revoked or expired; infinity for a usable key. */
const endOf = ({ revokedAt, expiresAt }: ApiKey) =>
  Math.min(revokedAt ?? Infinity, expiresAt ?? Infinity);

/**
 * Deletes keys of an account that ended long ago. Throws `conflict` if it then has the maximum of
 * usable keys, or of keys that ended recently. Concurrent calls may exceed the maximum by their
 * number.
 */
export async function makeKeyRoom(
  store: Pick<Store, 'apiKeys'>,
  userId: string,
  now: number,
): Promise<void> {
  const keys = await store.apiKeys.find({ userId });
  const ended = keys
    .filter((key) => endOf(key) <= now)
    .sort((one, other) => endOf(other) - endOf(one));
  const old = ended.slice(keptEndedKeys).filter((key) => endOf(key) < now - keptEndedMs);
  for (const key of old) await store.apiKeys.remove({ id: key.id });
  const refuse = (words: string) => new Fault('conflict', `The account has ${words}.`);
  if (keys.length - ended.length >= maxUsableKeys)
    throw refuse(`${maxUsableKeys} usable keys, the maximum. Revoke one first`);
  if (keys.length - old.length >= maxKeys)
    throw refuse(`${maxKeys} keys, the maximum, of which most have ended. Create one later`);
}

/** The last moment that every client can represent. */
const latest = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

/**
 * Creates an API key. Only the return value contains the secret; the store keeps its hash. Does
 * nothing for a secret that is already a key. Throws `invalid` for an expiry in the past.
 */
export async function createKey(
  store: Pick<Store, 'apiKeys'>,
  request: KeyRequest,
): Promise<{ keyId: string; apiKey: string }> {
  const {
    id = newId(),
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
    id,
    hash: sha256(secret),
    prefix: keyPrefix(secret),
    revokedAt: null,
    lastUsedAt: null,
    scopes:
      role === 'operator' || scopes.length === 0
        ? null
        : keyScopes.filter((one) => scopes.includes(one)),
    operatorRole: role === 'operator' ? operatorRole : null,
    creditCeiling,
    creditsSpent: 0,
  };
  await store.apiKeys.insert(key);
  return { keyId: id, apiKey: secret };
}
