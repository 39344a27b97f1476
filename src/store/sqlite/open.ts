import type { Collection } from '../collection.ts';
import { declarations } from '../collections.ts';
import type { ApiKey, User } from '../documents.ts';
import type { KeyStore } from '../keys.ts';
import type { Store } from '../store.ts';
import { batchStore } from './batches.ts';
import { createCollections } from './collection.ts';
import type { Value } from './connection.ts';
import { openEngine, type SqliteEngine } from './engine.ts';
import { ensureInstallationId } from './installation.ts';
import { jobStore } from './jobs.ts';
import { ledgerStore } from './ledger.ts';
import { originStore } from './origins.ts';
import { mapRows } from './sql.ts';

/** Options for openSqliteStore(). */
export interface SqliteStoreOptions {
  /** The data file. A missing folder is created. `:memory:` stores nothing. */
  path: string;
  /** Size of the page cache; 8 MiB by default. */
  cacheBytes?: number | undefined;
}

/**
 * Opens the embedded store (docs/architecture.md). Several processes of one host may open the same
 * file. A change is stored when its method resolves and survives any crash of the process. After a
 * power failure, users, the ledger, job transitions, and notices are intact; work on batches may
 * lose some seconds and is repeated (docs/reliability.md). Every step is atomic. Throws
 * `unavailable` if the file cannot be opened.
 */
export function openSqliteStore(options: SqliteStoreOptions): Store {
  return storeOn(openEngine(options.path, options.cacheBytes));
}

/** Creates the store on an open data file. */
export function storeOn(engine: SqliteEngine): Store {
  const collections = createCollections(engine);
  return {
    ...collections,
    apiKeys: keyStore(engine, collections.apiKeys),
    ledger: ledgerStore(engine),
    jobs: jobStore(engine, collections.jobs),
    batches: batchStore(engine),
    origins: originStore(engine.relaxed),
    engine: 'SQLite',
    ping: async () => {
      engine.get('SELECT 1 FROM sequences LIMIT 1');
      return Date.now();
    },
    schemaVersion: async () => engine.schemaVersion(),
    installationId: async () => ensureInstallationId(engine),
    close: async () => engine.close(),
  };
}

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
function keyStore(engine: SqliteEngine, keys: Collection<ApiKey>): KeyStore {
  return {
    ...keys,
    findByHash: async (hash) => engine.cache.document(keysWithUser, keyByHash, hash),
  };
}
