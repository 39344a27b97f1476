import type { ApiKey, User } from './documents.ts';

/**
 * Sign-in of a browser. It stands for an API key and allows what the key allows. Only the hash of its token
 * is stored.
 */
export interface BrowserSession {
  /** SHA-256 of the token in hexadecimal. */
  hash: string;
  userId: string;
  keyId: string;
  createdAt: number;
  expiresAt: number;
}

/** Sessions of browsers. Expired ones are deleted by ExpiryStore. */
export interface SessionStore {
  /** Inserts a session, then deletes the oldest sessions of its user beyond `max`. */
  createSession(session: BrowserSession, max: number): Promise<void>;
  /**
   * Returns the session with this hash, its key, and its user, also if one of them is expired, revoked, or
   * suspended.
   */
  findSession(hash: string): Promise<{ session: BrowserSession; key: ApiKey; user: User } | null>;
  /** Deletes a session, if it exists. */
  deleteSession(hash: string): Promise<void>;
  /** Deletes the sessions of a user and returns their number. */
  deleteSessions(userId: string): Promise<number>;
}
