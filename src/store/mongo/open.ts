import type { Collection } from 'mongodb';
import { newId } from '../../base/id.ts';
import type { Store } from '../store.ts';
import { batchStore } from './batches.ts';
import { createCollections } from './collection.ts';
import { type MongoEngine, openEngine } from './engine.ts';
import { jobStore } from './jobs.ts';
import { keyStore } from './keys.ts';
import { ledgerStore } from './ledger.ts';
import { originStore } from './origins.ts';
import type { SchemaDocument } from './schema.ts';

/** Options for openMongoStore(). */
export interface MongoStoreOptions {
  /** Connection string. The database is the one it names, `gleaner` by default. */
  uri: string;
}

/**
 * Opens the distributed store (docs/architecture.md) on a standalone server, a replica set, or a
 * sharded cluster (docs/scaling.md). Succeeds even if MongoDB is down: calls then fail with the
 * fault `unavailable` within seconds until it is back.
 */
export function openMongoStore(options: MongoStoreOptions): Store {
  return storeOn(openEngine(options.uri));
}

/** Creates the store on a database. */
export function storeOn(engine: MongoEngine): Store {
  const collections = createCollections(engine);
  return {
    ...collections,
    apiKeys: keyStore(engine, collections.apiKeys),
    ledger: ledgerStore(engine),
    jobs: jobStore(engine, collections.jobs),
    batches: batchStore(engine),
    origins: originStore(engine),
    engine: 'MongoDB',
    ping: () => engine.ping(),
    schemaVersion: () => engine.schemaVersion(),
    installationId: () => engine.run(({ schema }) => ensureInstallationId(schema)),
    close: () => engine.close(),
  };
}

/** Returns the id of the installation that the database belongs to. Creates one if it has none. */
async function ensureInstallationId(schema: Collection<SchemaDocument>): Promise<string> {
  const without = { _id: 'schema', installation: { $exists: false } } as const;
  await schema.updateOne(without, { $set: { installation: newId() } });
  return (await schema.findOne({ _id: 'schema' }))!.installation!;
}
