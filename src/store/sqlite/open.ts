import type { Store } from '../store.ts';
import { batchStore } from './batches.ts';
import { createCollections } from './collection.ts';
import { openEngine, type SqliteEngine } from './engine.ts';
import { jobStore } from './jobs.ts';
import { keyStore } from './keys.ts';
import { ledgerStore } from './ledger.ts';
import { originStore } from './origins.ts';

/** Options for openSqliteStore(). */
export interface SqliteStoreOptions {
  /** The data file. A missing folder is created. `:memory:` stores nothing. */
  path: string;
  /** Size of the page cache; 8 MiB by default. */
  cacheBytes?: number;
}

/**
 * Opens the embedded store (docs/architecture.md). Several processes of one host may open the same file. A
 * change is stored when its method resolves and survives any crash of the process. After a power failure,
 * users, the ledger, job transitions, and notices are intact; work on batches may lose some seconds and is
 * repeated (docs/reliability.md). Every step is atomic. Throws `unavailable` if the file cannot be opened.
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
    },
    schemaVersion: async () => engine.schemaVersion(),
    time: async () => Date.now(),
    close: async () => engine.close(),
  };
}
