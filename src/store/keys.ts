import type { Collection } from './collection.ts';
import type { ApiKey, User } from './documents.ts';

/**
 * Keys of users. MongoDB reads the credits that a key has spent from its user, so that the other
 * operations of a collection are missing. Entries of the ledger keep the id of a removed key, and
 * refunds of its jobs no longer change the credits it has spent.
 */
export interface KeyStore
  extends Pick<Collection<ApiKey>, 'insert' | 'get' | 'find' | 'update' | 'remove'> {
  /** Returns the key with this hash and its user, also if revoked, expired, or suspended. */
  findByHash(hash: string): Promise<{ key: ApiKey; user: User } | null>;
}

/**
 * Revokes a key and returns it. A revoked key keeps the earlier time. Returns null if there is no
 * key with this id or, with `userId`, if it belongs to another user.
 */
export async function revokeApiKey(
  { apiKeys }: { apiKeys: KeyStore },
  id: string,
  at: number,
  userId?: string,
): Promise<ApiKey | null> {
  const revoked = await apiKeys.update({ id, userId, revokedAt: null }, { revokedAt: at });
  if (revoked !== null) return revoked;
  const [key = null] = await apiKeys.find({ id, userId });
  return key;
}
