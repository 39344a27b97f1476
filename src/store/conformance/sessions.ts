import { expect, test } from 'vitest';
import { newId } from '../../base/id.ts';
import type { BrowserSession } from '../sessions.ts';
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
    await stores.store.createUser(user);
    await stores.store.createApiKey(key);
    return { user, key };
  };
  const createSessions = async (fields: Partial<BrowserSession>[], max = 10) => {
    const { user, key } = await createAccount();
    const sessions = fields.map((changes) => aSession({ userId: user.id, keyId: key.id, ...changes }));
    for (const session of sessions) await stores.store.createSession(session, max);
    return { user, key, sessions };
  };
  const found = async (sessions: readonly BrowserSession[]) => {
    const results = await Promise.all(sessions.map(({ hash }) => stores.other.findSession(hash)));
    return results.map((result) => result !== null);
  };

  test('finds a session by its hash, with its key and user', async () => {
    const { user, key, sessions } = await createSessions([{}]);
    const [session] = sessions;
    expect(await stores.store.findSession(session!.hash)).toEqual({ session, key, user });
    expect(await stores.other.findSession(session!.hash)).toEqual({ session, key, user });
    expect(await stores.store.findSession('unknown')).toBeNull();
  });

  test('shows a revocation and a suspension at the next lookup in every process', async () => {
    const { user, key, sessions } = await createSessions([{}]);
    const { hash } = sessions[0]!;
    await stores.other.findSession(hash);
    await stores.store.revokeApiKey(key.id, aTime + 10);
    expect((await stores.other.findSession(hash))?.key.revokedAt).toBe(aTime + 10);
    await stores.other.suspendUser(user.id, aTime + 20);
    expect((await stores.store.findSession(hash))?.user.suspendedAt).toBe(aTime + 20);
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
    await runConcurrently(12, stores, (store, turn) => store.createSession(sessions[turn]!, 3));
    expect((await found(sessions)).filter((isFound) => isFound)).toHaveLength(3);
  });

  test('deletes one session', async () => {
    const { sessions } = await createSessions([{}, {}]);
    expect(await found(sessions)).toEqual([true, true]);
    await stores.store.deleteSession(sessions[0]!.hash);
    await stores.store.deleteSession(sessions[0]!.hash);
    expect(await found(sessions)).toEqual([false, true]);
  });

  test('deletes every session of a user and returns their number', async () => {
    const { sessions: others } = await createSessions([{}]);
    const { user, sessions } = await createSessions([{}, {}, {}]);
    expect(await stores.store.deleteSessions(user.id)).toBe(3);
    expect(await stores.other.deleteSessions(user.id)).toBe(0);
    expect(await found(sessions)).toEqual([false, false, false]);
    expect(await found(others)).toEqual([true]);
  });

  test('deletes expired sessions', async () => {
    const { sessions } = await createSessions([{ expiresAt: aTime - 1 }, { expiresAt: aTime }]);
    expect(await stores.store.expire({ sessions: aTime })).toBe(1);
    expect(await found(sessions)).toEqual([false, true]);
  });
}
