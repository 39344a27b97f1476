import type { AccountStore } from '../store.ts';
import type { Value } from './connection.ts';
import type { SqliteEngine } from './engine.ts';
import { type Condition, readNewest } from './paging.ts';
import { apiKeys, users } from './shapes.ts';

/** Used by every authenticated call: a key and its user. */
const keyByHash = `SELECT k.*, u.* FROM (SELECT ${apiKeys.select} FROM api_keys WHERE hash = ?) AS k
  JOIN (SELECT ${users.select} FROM users) AS u ON u.id = k.userId`;
const keyWidth = apiKeys.columns.split(',').length;
const keysWithUser = {
  read: (row: readonly Value[]) => ({
    key: apiKeys.read(row.slice(0, keyWidth)),
    user: users.read(row.slice(keyWidth)),
  }),
};

/** Creates the SQLite implementation of AccountStore. */
export function accountStore(engine: SqliteEngine): AccountStore {
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

    listUsers: async (role, page, search = '') => {
      const where: Condition[] = [['role = ? AND erased = 0 AND test_of IS NULL', role]];
      const text = search.toLowerCase();
      if (text !== '')
        where.push([
          '(instr(fold(name), ?) OR instr(fold(email), ?) OR instr(fold(id), ?))',
          text,
          text,
          text,
        ]);
      return readNewest(engine, { table: 'users', shape: users, where, order: ['createdAt', 'id'] }, page);
    },

    suspendUser: async (id, at) =>
      engine.document(
        users,
        `UPDATE users SET suspended_at = iif(?1 IS NULL AND deleted_at IS NULL, NULL, coalesce(suspended_at, ?1))
           WHERE id = ?2 RETURNING ${users.select}`,
        at,
        id,
      ),

    createApiKey: async (key) =>
      engine.run(
        `INSERT INTO api_keys (${apiKeys.columns}) VALUES (${apiKeys.marks}) ON CONFLICT DO NOTHING`,
        ...apiKeys.values(key),
      ) === 1,

    getApiKey: async (id) =>
      engine.document(apiKeys, `SELECT ${apiKeys.select} FROM api_keys WHERE id = ?`, id),

    findApiKey: async (hash) => engine.cache.document(keysWithUser, keyByHash, hash),

    touchApiKey: async (id, at) => {
      engine.relaxed.run(
        'UPDATE api_keys SET last_used_at = ?1 WHERE id = ?2 AND (last_used_at IS NULL OR last_used_at < ?1)',
        at,
        id,
      );
    },

    revokeApiKey: async (id, at, userId) =>
      engine.document(
        apiKeys,
        `UPDATE api_keys SET revoked_at = coalesce(revoked_at, ?1)
           WHERE id = ?2 AND user_id = coalesce(?3, user_id) RETURNING ${apiKeys.select}`,
        at,
        id,
        userId ?? null,
      ),

    deleteApiKey: async ({ id }) => {
      engine.run('DELETE FROM api_keys WHERE id = ?', id);
    },

    listApiKeys: async (userId) =>
      engine.documents(
        apiKeys,
        `SELECT ${apiKeys.select} FROM api_keys WHERE user_id = ? ORDER BY created_at DESC, id DESC`,
        userId,
      ),
  };
}
