import { newApiKey, newId, sha256 } from '../base/id.ts';
import type { Role } from '../store/documents.ts';
import type { AccountStore } from '../store/store.ts';

/** A key to make. */
export interface KeyRequest {
  userId: string;
  role: Role;
  name: string;
  createdAt: number;
  expiresAt: number | null;
  /** The key itself, where it is not to be generated. */
  secret?: string;
}

/** Makes an API key. The key itself is in this answer only; the store has its hash. A secret that is
 *  already a key changes nothing. */
export async function createKey(
  store: AccountStore,
  request: KeyRequest,
): Promise<{ keyId: string; apiKey: string }> {
  const { secret = newApiKey(), ...rest } = request;
  const key = {
    ...rest,
    id: newId(),
    hash: sha256(secret),
    prefix: secret.slice(0, 7),
    revokedAt: null,
    lastUsedAt: null,
  };
  await store.createApiKey(key);
  return { keyId: key.id, apiKey: secret };
}
