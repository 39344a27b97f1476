import type { SessionStore } from '../sessions.ts';
import type { Value } from './connection.ts';
import type { SqliteEngine } from './engine.ts';
import { apiKeys, sessions, users } from './shapes.ts';

/** Used by every call of a browser: a session, its key, and its user. */
const sessionByHash = `SELECT s.*, k.*, u.* FROM (SELECT ${sessions.select} FROM sessions WHERE hash = ?) AS s
  JOIN (SELECT ${apiKeys.select} FROM api_keys) AS k ON k.id = s.keyId
  JOIN (SELECT ${users.select} FROM users) AS u ON u.id = s.userId`;
const widthOf = ({ columns }: { columns: string }) => columns.split(',').length;
const keyStart = widthOf(sessions);
const userStart = keyStart + widthOf(apiKeys);
const sessionsWithKey = {
  read: (row: readonly Value[]) => ({
    session: sessions.read(row.slice(0, keyStart)),
    key: apiKeys.read(row.slice(keyStart, userStart)),
    user: users.read(row.slice(userStart)),
  }),
};

/** Creates the SQLite implementation of SessionStore. */
export function sessionStore(engine: SqliteEngine): SessionStore {
  return {
    createSession: async (session, max) =>
      engine.write(() => {
        engine.run(
          `INSERT INTO sessions (${sessions.columns}) VALUES (${sessions.marks})`,
          ...sessions.values(session),
        );
        engine.run(
          `DELETE FROM sessions WHERE hash IN (SELECT hash FROM sessions WHERE user_id = ?
             ORDER BY created_at DESC, hash DESC LIMIT -1 OFFSET ?)`,
          session.userId,
          max,
        );
      }),

    findSession: async (hash) => engine.cache.document(sessionsWithKey, sessionByHash, hash),

    deleteSession: async (hash) => {
      engine.run('DELETE FROM sessions WHERE hash = ?', hash);
    },

    deleteSessions: async (userId) => engine.run('DELETE FROM sessions WHERE user_id = ?', userId),
  };
}
