import { declarations } from '../collections.ts';
import type { ApiKey, User } from '../documents.ts';
import type { KeyStore } from '../store.ts';
import { mapRows } from './collection.ts';
import type { Value } from './connection.ts';
import type { SqliteEngine } from './engine.ts';

const users = mapRows<User>(declarations.users);
const apiKeys = mapRows<ApiKey>(declarations.apiKeys);

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

/** Creates the SQLite implementation of KeyStore. */
export function keyStore(engine: SqliteEngine): KeyStore {
  return {
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
