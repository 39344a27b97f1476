import { beforeEach, describe, expect, test } from 'vitest';
import { createManualClock } from '../../test/support/time/clock.ts';
import { newId } from '../base/id.ts';
import { createLog } from '../base/log.ts';
import { revokeApiKey } from '../store/keys.ts';
import { openSqliteStore } from '../store/sqlite/open.ts';
import type { Store } from '../store/store.ts';
import { listUsers } from '../store/users.ts';
import { createKey } from './keys.ts';
import {
  createOperatorKey,
  ensureOperator,
  newOperator,
  requireOtherOperatorKey,
} from './operator.ts';
import { createAuthenticator } from './principal.ts';

const now = Date.UTC(2030, 0, 7);
let store: Store;
let signIn: (key: string) => Promise<unknown>;
beforeEach(() => {
  store = openSqliteStore({ path: ':memory:' });
  const authenticate = createAuthenticator({
    store,
    clock: createManualClock(now),
    log: createLog('silent', 'test'),
  });
  signIn = (key) => authenticate(`Bearer ${key}`);
  return () => store.close();
});

const operators = async () =>
  (await listUsers(store, 'operator', { limit: 10, after: null })).items;
const keysOfFirst = async () =>
  store.apiKeys.find({ userId: (await operators())[0]!.id }, { newestFirst: true });

describe('ensureOperator()', () => {
  test('generates one key at the first start and none afterwards', async () => {
    const { generatedKey } = await ensureOperator(store, null, now);
    expect(await signIn(generatedKey!)).toMatchObject({ role: 'operator' });
    expect((await ensureOperator(store, null, now)).generatedKey).toBeNull();
    expect(await keysOfFirst()).toHaveLength(1);
  });

  test('generates a key if a crash left the operator without one', async () => {
    const { generatedKey } = await ensureOperator(store, null, now);
    const { id } = (await operators())[0]!;
    const other = openSqliteStore({ path: ':memory:' });
    await other.users.insert(newOperator(id, 'operator', now));
    expect((await ensureOperator(other, null, now)).generatedKey).not.toBe(generatedKey);
    expect(await other.apiKeys.find({ userId: id }, { newestFirst: true })).toHaveLength(1);
    await other.close();
  });

  test('keeps the configured key across restarts', async () => {
    await ensureOperator(store, 'a-configured-key', now);
    expect(await ensureOperator(store, 'a-configured-key', now)).toEqual({
      generatedKey: null,
      revokedKeys: 0,
      isRevoked: false,
    });
    expect(await keysOfFirst()).toHaveLength(1);
    await signIn('a-configured-key');
  });

  test('stores no character of the configured key', async () => {
    await ensureOperator(store, 'a-configured-key', now);
    expect((await keysOfFirst()).map(({ prefix }) => prefix)).toEqual(['']);
  });

  test('revokes the previous key when the configured key changes', async () => {
    const { generatedKey } = await ensureOperator(store, null, now);
    expect(await ensureOperator(store, 'first-value', now)).toMatchObject({ revokedKeys: 1 });
    expect(await ensureOperator(store, 'second-value', now)).toMatchObject({ revokedKeys: 1 });
    for (const key of [generatedKey!, 'first-value'])
      await expect(signIn(key)).rejects.toThrow('The API key has been revoked.');
    await signIn('second-value');
  });

  test('keeps keys created by other means', async () => {
    const recovered = await createOperatorKey(store, 'laptop', now);
    await ensureOperator(store, 'first-value', now);
    await ensureOperator(store, 'second-value', now);
    await signIn(recovered);
  });

  test('does not revoke the current key for a process with an outdated setting', async () => {
    await ensureOperator(store, 'first-value', now);
    await ensureOperator(store, 'second-value', now);
    expect(await ensureOperator(store, 'first-value', now)).toEqual({
      generatedKey: null,
      revokedKeys: 0,
      isRevoked: true,
    });
    await signIn('second-value');
  });
});

test('createOperatorKey() creates exactly one key, even before the first start', async () => {
  const key = await createOperatorKey(store, 'laptop', now);
  expect((await keysOfFirst()).map(({ name }) => name)).toEqual(['laptop']);
  await signIn(key);
});

describe('requireOtherOperatorKey()', () => {
  const keyId = async () => (await keysOfFirst())[0]!.id;

  test('rejects the last usable operator key', async () => {
    await createOperatorKey(store, 'laptop', now);
    const refusal = { code: 'conflict', message: expect.stringContaining('last operator key') };
    await expect(requireOtherOperatorKey(store, await keyId(), now)).rejects.toMatchObject(refusal);
  });

  test('does not count expired and revoked keys', async () => {
    await createOperatorKey(store, 'laptop', now);
    const id = await keyId();
    const expiring = {
      role: 'operator' as const,
      name: 'old',
      createdAt: now - 2,
      expiresAt: now - 1,
    };
    const userId = (await operators())[0]!.id;
    await createKey(store, { ...expiring, userId });
    const { keyId: revoked } = await createKey(store, { ...expiring, userId, expiresAt: null });
    await revokeApiKey(store, revoked, now);
    await expect(requireOtherOperatorKey(store, id, now)).rejects.toMatchObject({
      code: 'conflict',
    });
  });

  test('accepts a key if another operator has one', async () => {
    await createOperatorKey(store, 'laptop', now);
    const other = newOperator(newId(), 'Maria', now);
    await store.users.insert(other);
    const key = {
      userId: other.id,
      role: 'operator' as const,
      name: 'phone',
      createdAt: now,
      expiresAt: null,
    };
    await createKey(store, key);
    await requireOtherOperatorKey(store, await keyId(), now);
  });

  test("accepts a user's key", async () => {
    await createOperatorKey(store, 'laptop', now);
    await requireOtherOperatorKey(store, newId(), now);
  });
});
