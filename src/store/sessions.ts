import type { Collection } from './collection.ts';
import type { ApiKey, User } from './documents.ts';
import type { KeyStore } from './keys.ts';

/**
 * Sign-in of a browser. It stands for an API key and allows what the key allows. Only the hash of
 * its token is stored. Expired ones are deleted by expire().
 */
export interface BrowserSession {
  /** SHA-256 of the token in hexadecimal. */
  hash: string;
  userId: string;
  keyId: string;
  createdAt: number;
  expiresAt: number;
}

/** Inserts a session, then deletes the oldest sessions of its user beyond `max`. */
export async function createSession(
  { sessions }: { sessions: Collection<BrowserSession> },
  session: BrowserSession,
  max: number,
): Promise<void> {
  await sessions.insert(session);
  const { userId } = session;
  const excess = (await sessions.find({ userId }, { newestFirst: true })).slice(max);
  if (excess.length > 0) await sessions.remove({ hash: { in: excess.map(({ hash }) => hash) } });
}

/**
 * Returns the session with this hash, its key, and its user, also if one of them is expired,
 * revoked, or suspended.
 */
export async function findSession(
  store: {
    sessions: Collection<BrowserSession>;
    users: Collection<User>;
    apiKeys: Pick<KeyStore, 'get'>;
  },
  hash: string,
): Promise<{ session: BrowserSession; key: ApiKey; user: User } | null> {
  const session = await store.sessions.get(hash);
  if (session === null) return null;
  const [key, user] = await Promise.all([
    store.apiKeys.get(session.keyId),
    store.users.get(session.userId),
  ]);
  return key && user && { session, key, user };
}
