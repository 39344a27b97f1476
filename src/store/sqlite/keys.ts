import type { Collection } from '../collection.ts';
import { declarations } from '../collections.ts';
import type { ApiKey, User } from '../documents.ts';
import type { KeyStore } from '../keys.ts';
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
export function keyStore(engine: SqliteEngine, keys: Collection<ApiKey>): KeyStore {
  return {
    ...keys,
    findByHash: async (hash) => engine.cache.document(keysWithUser, keyByHash, hash),
  };
}
