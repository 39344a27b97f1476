import { expect, test } from 'vitest';
import { newId } from '../../base/id.ts';
import { revokeApiKey } from '../keys.ts';
import { type BrowserSession, createSession, findSession } from '../sessions.ts';
import { suspendUser } from '../users.ts';
import { aKey, aTime, aUser } from './samples.ts';
import { type OpenStores, runConcurrently, setUpStores } from './stores.ts';

const aSession = (fields: Partial<BrowserSession> = {}): BrowserSession => ({
  hash: newId(),
  userId: newId(),
  keyId: newId(),
  createdAt: aTime,
  expiresAt: aTime + 60_000,
  ...fields,
});

/** Sessions of browsers. */
export function sessionConformance(open: OpenStores): void {
  const stores = setUpStores(open);

  /** Creates a user with a key and returns both. */
  const createAccount = async () => {
    const user = aUser();
    const key = aKey({ userId: user.id });
    await stores.store.users.insert(user);
    await stores.store.apiKeys.insert(key);
    return { user, key };
  };
  const createSessions = async (fields: Partial<BrowserSession>[], max = 10) => {
    const { user, key } = await createAccount();
    const sessions = fields.map((changes) =>
      aSession({ userId: user.id, keyId: key.id, ...changes }),
    );
    for (const session of sessions) await createSession(stores.store, session, max);
    return { user, key, sessions };
  };
  const found = async (sessions: readonly BrowserSession[]) => {
    const results = await Promise.all(sessions.map(({ hash }) => findSession(stores.other, hash)));
    return results.map((result) => result !== null);
  };

  test('finds a session by its hash, with the current state of its key and user', async () => {
    const { user, key, sessions } = await createSessions([{}]);
    const [session] = sessions;
    const { hash } = session!;
    expect(await findSession(stores.other, hash)).toEqual({ session, key, user });
    expect(await findSession(stores.store, 'unknown')).toBeNull();
    await revokeApiKey(stores.store, key.id, aTime + 10);
    expect((await findSession(stores.other, hash))?.key.revokedAt).toBe(aTime + 10);
    await suspendUser(stores.other, user.id, aTime + 20);
    expect((await findSession(stores.store, hash))?.user.suspendedAt).toBe(aTime + 20);
  });

  test('deletes the oldest sessions of a user beyond the maximum', async () => {
    const { sessions: others } = await createSessions([{ createdAt: aTime - 10 }]);
    const { sessions } = await createSessions(
      [3, 1, 2, 4].map((turn) => ({ createdAt: aTime + turn })),
      2,
    );
    expect(await found(sessions)).toEqual([true, false, false, true]);
    expect(await found(others)).toEqual([true]);
  });

  test('keeps at most the maximum of sessions that are created at the same time', async () => {
    const { user, key } = await createAccount();
    const sessions = Array.from({ length: 12 }, () => aSession({ userId: user.id, keyId: key.id }));
    await runConcurrently(12, stores, (store, turn) => createSession(store, sessions[turn]!, 3));
    expect((await found(sessions)).filter((isFound) => isFound)).toHaveLength(3);
  });
}
