import { newApiKey, sha256 } from '../base/id.ts';
import { Fault } from '../contract/fault.ts';
import type { ApiKey, User } from '../store/documents.ts';
import type { AccountStore } from '../store/store.ts';
import { createKey } from './keys.ts';

/** Id of the first operator; fixed, so that processes that start together create only one. */
const firstOperatorId = '00000000-0000-4000-8000-000000000001';

/** Name of the first operator's key, whether it was generated or taken from GLEANER_OPERATOR_KEY. */
const firstKeyName = 'first operator';

/** Operators read at once. */
const pageLimit = 100;

/** Result of ensureOperator(). */
export interface EnsuredOperator {
  /** The key, if it was generated now; it is not stored and must be shown. */
  generatedKey: string | null;
  /** Number of earlier keys that the configured key replaced. */
  revokedKeys: number;
  /** Whether the configured key cannot be used because it was revoked. */
  isRevoked: boolean;
}

/** Returns the account of a new operator. */
export const newOperator = (id: string, name: string, now: number): User => ({
  id,
  name,
  email: '',
  role: 'operator',
  balance: 0,
  createdAt: now,
  suspendedAt: null,
});

/**
 * Ensures that the first operator exists and has a key. With `secret` (GLEANER_OPERATOR_KEY) its key is set to
 * it, and the operator's earlier generated or configured keys are revoked. Without one, a key is generated if
 * the operator has none.
 */
export async function ensureOperator(
  store: AccountStore,
  secret: string | null,
  now: number,
): Promise<EnsuredOperator> {
  const isNew = await store.createUser(newOperator(firstOperatorId, 'operator', now));
  if (secret !== null) return configureKey(store, secret, now);
  // Keys, not the user, decide: a crash between the two leaves a user without a key.
  const keys = isNew ? [] : await store.listApiKeys(firstOperatorId);
  const generatedKey = keys.length > 0 ? null : await createOperatorKey(store, firstKeyName, now);
  return { generatedKey, revokedKeys: 0, isRevoked: false };
}

/** Creates a further key of the first operator and returns it. */
export async function createOperatorKey(store: AccountStore, name: string, now: number): Promise<string> {
  await store.createUser(newOperator(firstOperatorId, 'operator', now));
  return (await createKey(store, { ...firstKey(now), name, secret: newApiKey() })).apiKey;
}

/**
 * Refuses to revoke the last key with which an operator can sign in. Fault `conflict`. Two revocations at the
 * same time may pass both; `gleaner operator-key` creates a new key then.
 */
export async function requireOtherOperatorKey(
  store: AccountStore,
  keyId: string,
  now: number,
): Promise<void> {
  let revokesOperatorKey = false;
  let after: string | null = null;
  do {
    const { items, next } = await store.listUsers('operator', { limit: pageLimit, after });
    for (const { id } of items) {
      for (const key of await store.listApiKeys(id)) {
        if (key.id === keyId) revokesOperatorKey = isUsable(key, now);
        else if (isUsable(key, now)) return;
      }
    }
    after = next;
  } while (after !== null);
  if (revokesOperatorKey)
    throw new Fault('conflict', 'This is the last operator key. Create another one before you revoke it.');
}

const firstKey = (now: number) => ({
  userId: firstOperatorId,
  role: 'operator' as const,
  name: firstKeyName,
  createdAt: now,
  expiresAt: null,
});

const isUsable = ({ revokedAt, expiresAt }: ApiKey, now: number): boolean =>
  revokedAt === null && (expiresAt === null || expiresAt > now);

/** Sets the first operator's key to `secret` and revokes the keys that it replaces. */
async function configureKey(store: AccountStore, secret: string, now: number): Promise<EnsuredOperator> {
  const hash = sha256(secret);
  await createKey(store, { ...firstKey(now), secret });
  const found = await store.findApiKey(hash);
  // A process with an outdated setting must not revoke the key that replaced it.
  if (found?.key.revokedAt != null) return { generatedKey: null, revokedKeys: 0, isRevoked: true };
  const replaced = (await store.listApiKeys(firstOperatorId)).filter(
    (key) => key.name === firstKeyName && key.hash !== hash && key.revokedAt === null,
  );
  for (const { id } of replaced) await store.revokeApiKey(id, now);
  return { generatedKey: null, revokedKeys: replaced.length, isRevoked: false };
}
