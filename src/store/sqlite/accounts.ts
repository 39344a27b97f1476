import { readCursor, rowsToRead, toPage } from '../cursor.ts';
import type { AccountStore } from '../store.ts';
import type { Engine } from './engine.ts';
import { apiKeys, users } from './shapes.ts';

/** Asked by every call. */
const keyByHash = `SELECT ${apiKeys.select} FROM api_keys WHERE hash = ?`;

/** Users and keys in SQLite. */
export function accountStore(engine: Engine): AccountStore {
  return {
    createUser: async (user) =>
      engine.run(
        `INSERT INTO users (${users.columns}) VALUES (${users.marks}) ON CONFLICT DO NOTHING`,
        ...users.values(user),
      ) === 1,

    getUser: async (id) => engine.document(users, `SELECT ${users.select} FROM users WHERE id = ?`, id),

    getUsers: async (ids) =>
      engine.documents(
        users,
        `SELECT ${users.select} FROM users WHERE id IN (SELECT value FROM json_each(?))`,
        JSON.stringify(ids),
      ),

    listUsers: async (role, page) => {
      const after = readCursor(page);
      const rows = engine.documents(
        users,
        `SELECT ${users.select} FROM users WHERE role = ? AND (created_at, id) < (?, ?)
         ORDER BY created_at DESC, id DESC LIMIT ?`,
        role,
        after.at,
        after.id,
        rowsToRead(page),
      );
      return toPage(rows, page, (user) => ({ at: user.createdAt, id: user.id }));
    },

    createApiKey: async (key) =>
      engine.run(
        `INSERT INTO api_keys (${apiKeys.columns}) VALUES (${apiKeys.marks}) ON CONFLICT DO NOTHING`,
        ...apiKeys.values(key),
      ) === 1,

    findApiKey: async (hash) => engine.document(apiKeys, keyByHash, hash),

    revokeApiKey: async (id, at, userId) =>
      engine.document(
        apiKeys,
        `UPDATE api_keys SET revoked_at = coalesce(revoked_at, ?1)
           WHERE id = ?2 AND user_id = coalesce(?3, user_id) RETURNING ${apiKeys.select}`,
        at,
        id,
        userId ?? null,
      ),

    listApiKeys: async (userId) =>
      engine.documents(
        apiKeys,
        `SELECT ${apiKeys.select} FROM api_keys WHERE user_id = ? ORDER BY created_at DESC, id DESC`,
        userId,
      ),
  };
}
