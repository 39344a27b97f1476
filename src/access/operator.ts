import { newApiKey, sha256 } from '../base/id.ts';
import type { AccountStore } from '../store/store.ts';
import { createKey } from './keys.ts';

/** The first operator's id is fixed, so that processes that start together make one. */
const firstOperator = '00000000-0000-4000-8000-000000000001';

/**
 * Makes the first operator where there is none (decisions, "first start"). With `secret` its key
 * works after this, whatever was before. Gives the key when it was generated just now, to be shown
 * once; null otherwise.
 */
export async function ensureOperator(
  store: AccountStore,
  secret: string | null,
  now: number,
): Promise<string | null> {
  const user = {
    id: firstOperator,
    name: 'operator',
    email: '',
    role: 'operator' as const,
    balance: 0,
    createdAt: now,
    suspendedAt: null,
  };
  const created = await store.createUser(user);
  const keys = created ? [] : await store.listApiKeys(firstOperator);
  const key = {
    userId: firstOperator,
    role: 'operator' as const,
    name: 'first operator',
    createdAt: now,
    expiresAt: null,
  };
  if (secret !== null) {
    if ((await store.findApiKey(sha256(secret))) === null) await createKey(store, { ...key, secret });
    return null;
  }
  // Keys, not the user, decide: a crash between the two leaves a user whose key nobody has seen.
  if (keys.length > 0) return null;
  return (await createKey(store, { ...key, secret: newApiKey() })).apiKey;
}

/** Makes a further key of the first operator, for when the shown one is lost. */
export async function createOperatorKey(store: AccountStore, now: number): Promise<string> {
  await ensureOperator(store, newApiKey(), now);
  const request = {
    userId: firstOperator,
    role: 'operator' as const,
    name: 'recovered',
    createdAt: now,
    expiresAt: null,
  };
  return (await createKey(store, request)).apiKey;
}
