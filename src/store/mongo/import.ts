import type { Collection, Document } from 'mongodb';
import { ConfigError } from '../../base/config.ts';
import { newId } from '../../base/id.ts';
import { Fault } from '../../contract/fault.ts';
import { inChunks } from '../collection.ts';
import { collectionNames, declarations } from '../collections.ts';
import type { ContentKind, StoreContents, StoreImport } from '../store-export.ts';
import type { CollectionName } from '../stored-documents.ts';
import { writeDocument } from './documents.ts';
import { type MongoEngine, openEngine } from './engine.ts';
import { storeOn } from './open.ts';
import { voidDocument } from './post-entry.ts';
import type { MongoCollections } from './schema.ts';
import { writeBatch, writeJob } from './shapes.ts';

/** Conversion of the documents of a kind. */
interface ContentTarget<T> {
  readonly collection: keyof MongoCollections;
  convert(content: T): Document;
}

/** Documents per message to the server; fewer of large ones. */
const chunkSize = 500;
const chunkSizes: Partial<Record<ContentKind, number>> = {
  batches: 100,
  crawls: 20,
  schedules: 10,
};

/** Id of the writing of every imported job and its batches (jobs.ts). */
const draft = 'import';

const declaredTargets = Object.fromEntries(
  collectionNames
    .filter((name) => name !== 'processes')
    .map((name) => [
      name,
      {
        collection: name,
        convert: (content: object) => writeDocument(declarations[name], content),
      },
    ]),
) as unknown as { [K in Exclude<CollectionName, 'processes'>]: ContentTarget<StoreContents[K]> };

/** Targets of all kinds. */
export const contentTargets: { readonly [K in ContentKind]: ContentTarget<StoreContents[K]> } = {
  ...declaredTargets,
  ledger: {
    collection: 'ledger',
    convert: ({ key, ...entry }) => ({
      _id: key,
      ...entry,
      state: 'applied',
      stamp: newId(),
    }),
  },
  voidLedgerKeys: { collection: 'ledger', convert: ({ key, at }) => voidDocument(key, '', at) },
  jobs: { collection: 'jobs', convert: (job) => writeJob(job, draft) },
  batches: { collection: 'batches', convert: (batch) => writeBatch(batch, draft) },
  origins: {
    collection: 'origins',
    convert: ({ origin, nextFree, pause }) => ({
      _id: origin,
      nextFree,
      pause,
      holdings: [],
      holdingsRevision: 0,
      heldUntil: 0,
    }),
  },
};

/** Collections that no import writes, with the reason. */
export const omittedCollections: Partial<Record<keyof MongoCollections, string>> = {
  schema: 'the state of the import itself',
  processes: 'heartbeats of processes that have ended',
};

/**
 * Opens a database for an import, which must be empty or contain an interrupted import of `source`.
 * `begin()` throws a ConfigError otherwise.
 */
export function openImport(uri: string, source: string): StoreImport {
  const engine = openEngine(uri, undefined, { isImport: true });
  const store = storeOn(engine);
  const writtenCounts = new Map<keyof MongoCollections, number>();
  return {
    store,

    begin: () => begin(engine, source),

    async write(kind, documents) {
      const { collection, convert } = contentTargets[kind];
      let count = 0;
      for (const chunk of inChunks(documents, chunkSizes[kind] ?? chunkSize)) {
        await engine.run((collections) =>
          looselyTyped(collections[collection]).insertMany(chunk.map(convert), { ordered: false }),
        );
        count += chunk.length;
      }
      writtenCounts.set(collection, (writtenCounts.get(collection) ?? 0) + count);
      return count;
    },

    verify: () =>
      engine.run(async (collections) => {
        for (const name of dataCollections(collections)) {
          const found = await collections[name].countDocuments();
          const written = writtenCounts.get(name) ?? 0;
          if (found === written) continue;
          const problem = `the collection ${name} has ${found} documents instead of ${written}`;
          const remedy = 'Stop every process that uses the database, and repeat the move';
          throw new Fault('malformed', `${engine.address}: ${problem}. ${remedy}`);
        }
      }),

    complete: (installation) =>
      engine.run(async ({ schema }) => {
        const change = { $set: { installation }, $unset: { movingFrom: '' } } as const;
        await schema.updateOne({ _id: 'schema' }, change);
      }),

    close: () => store.close(),
  };
}

/** Marks the database as importing, and deletes the remains of an interrupted import. */
async function begin(engine: MongoEngine, source: string): Promise<void> {
  await engine.run(async (collections) => {
    const { schema } = collections;
    const isNew = async () => (await findContents(collections)) === null;
    const mark = { _id: 'schema', movingFrom: { $exists: false } } as const;
    if (
      (await isNew()) &&
      (await schema.updateOne(mark, { $set: { movingFrom: source } })).matchedCount === 1
    ) {
      // A process that started before the mark may have written since.
      if (await isNew()) return;
      await schema.updateOne({ _id: 'schema' }, { $unset: { movingFrom: '' } });
    }
    const { movingFrom } = (await schema.findOne({ _id: 'schema' })) ?? {};
    if (movingFrom !== source)
      throw new ConfigError(
        movingFrom === undefined
          ? `${engine.address} is not empty: it has documents in ` +
              `${await findContents(collections)}. Choose another database.`
          : `${engine.address} contains an incomplete move of ${movingFrom}. ` +
              'Repeat that move, or choose another database.',
      );
    for (const name of dataCollections(collections)) await collections[name].deleteMany({});
  });
}

/** Returns the name of a collection that is not empty, or null. */
async function findContents(collections: MongoCollections): Promise<string | null> {
  for (const name of dataCollections(collections)) {
    if ((await looselyTyped(collections[name]).findOne({})) !== null) return name;
  }
  return null;
}

const dataCollections = (collections: MongoCollections) =>
  (Object.keys(collections) as (keyof MongoCollections)[]).filter((name) => name !== 'schema');

/**
 * Returns a collection whose documents are checked elsewhere: by `toCollection()`, or not at all.
 */
const looselyTyped = (collection: MongoCollections[keyof MongoCollections]) =>
  collection as unknown as Collection<Document>;
