import { Binary, type Collection, type Document } from 'mongodb';
import { ConfigError } from '../../base/config.ts';
import { newId } from '../../base/id.ts';
import { Fault } from '../../contract/fault.ts';
import { inChunks } from '../chunks.ts';
import type { ContentKind, StoreContents, StoreImport } from '../contents.ts';
import { driftId } from './drift.ts';
import { type MongoEngine, openEngine } from './engine.ts';
import { observationId } from './history-ids.ts';
import { storeOn } from './open.ts';
import { originMinuteId } from './operations.ts';
import { writePause } from './origins.ts';
import { voidDocument } from './posting.ts';
import { writeSchedule } from './schedules.ts';
import type { Collections } from './schema.ts';
import { withUnderscore, writeBatch, writeDestination, writeJob } from './shapes.ts';
import { submissionId } from './submissions.ts';

/** Conversion of the documents of a kind. */
interface ContentTarget<T> {
  readonly collection: keyof Collections;
  /** Documents per message to the server. */
  readonly chunkSize: number;
  convert(content: T): Document;
}

type DocumentOf<N extends keyof Collections> = Collections[N] extends Collection<infer D> ? D : never;

/** Id of the writing of every imported job and its batches (creating.ts). */
const draft = 'import';

const toCollection = <T, N extends keyof Collections>(
  collection: N,
  convert: (content: T) => DocumentOf<N> & Document,
  chunkSize = 500,
): ContentTarget<T> => ({ collection, convert, chunkSize });

/** Targets of all kinds. */
export const contentTargets: { readonly [K in ContentKind]: ContentTarget<StoreContents[K]> } = {
  users: toCollection('users', (user) => ({ ...withUnderscore(user), openKeys: [], epoch: 0 })),
  apiKeys: toCollection('apiKeys', withUnderscore),
  sessions: toCollection('sessions', ({ hash, ...session }) => ({ _id: hash, ...session })),
  auditLog: toCollection('auditLog', withUnderscore),
  ledger: toCollection('ledger', ({ key, ...entry }) => ({
    _id: key,
    ...entry,
    state: 'applied' as const,
    stamp: newId(),
  })),
  voidLedgerKeys: toCollection('ledger', ({ key, at }) => voidDocument(key, '', at)),
  jobs: toCollection('jobs', (job) => writeJob(job, draft)),
  deletedJobs: toCollection('deletedJobs', withUnderscore),
  batches: toCollection('batches', (batch) => writeBatch(batch, draft), 100),
  sequences: toCollection('sequences', ({ name, value }) => ({ _id: name, value })),
  submissions: toCollection('submissions', (submission) => ({
    _id: submissionId(submission.userId, submission.idempotencyKey),
    ...submission,
  })),
  origins: toCollection('origins', ({ origin, nextFree, pause }) => ({
    _id: origin,
    nextFree,
    pause: writePause(pause),
    holdings: [],
    leases: 0,
    heldUntil: 0,
  })),
  crawls: toCollection('crawls', ({ key, at, body }) => ({ _id: key, at, body: new Binary(body) }), 20),
  drift: toCollection('drift', (record) => ({ _id: driftId(record.market, record.page), ...record })),
  originMinutes: toCollection('originMinutes', (row) => ({ _id: originMinuteId(row), ...row })),
  webhooks: toCollection('webhooks', ({ userId, ...webhook }) => ({ _id: userId, ...webhook })),
  deliveries: toCollection('deliveries', withUnderscore),
  destinations: toCollection('destinations', writeDestination),
  schedules: toCollection('schedules', ({ request, ...schedule }) => writeSchedule(schedule, request), 10),
  scheduleRuns: toCollection('scheduleRuns', withUnderscore),
  trackingRuns: toCollection('trackingRuns', ({ jobId, ...run }) => ({
    _id: jobId,
    ...run,
    ...(run.turn === 'active' ? { activeUser: run.userId } : {}),
  })),
  trackedItems: toCollection('trackedItems', withUnderscore),
  observations: toCollection('observations', (observation) => ({
    _id: observationId(observation),
    ...observation,
  })),
  itemChanges: toCollection('itemChanges', withUnderscore),
  rules: toCollection('rules', withUnderscore),
};

/** Collections that no import writes, with the reason. */
export const omittedCollections: Partial<Record<keyof Collections, string>> = {
  schema: 'the state of the import itself',
  processes: 'heartbeats of processes that have ended',
};

/**
 * Opens a database for an import, which must be empty or contain an interrupted import of `source`. `begin()` throws a
 * ConfigError otherwise.
 */
export function openImport(uri: string, source: string): StoreImport {
  const engine = openEngine(uri, undefined, { isImport: true });
  const store = storeOn(engine);
  const writtenCounts = new Map<keyof Collections, number>();
  return {
    store,

    begin: () => begin(engine, source),

    async write(kind, documents) {
      const { collection, chunkSize, convert } = contentTargets[kind];
      let count = 0;
      for (const chunk of inChunks(documents, chunkSize)) {
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
          const [found, written] = [await collections[name].countDocuments(), writtenCounts.get(name) ?? 0];
          if (found === written) continue;
          throw new Fault(
            'malformed',
            `${engine.place}: the collection ${name} has ${found} documents instead of ${written}. Stop every process that uses the database, and repeat the move`,
          );
        }
      }),

    complete: () =>
      engine.run(async ({ schema }) => {
        await schema.updateOne({ _id: 'schema' }, { $unset: { movingFrom: '' } });
      }),

    close: () => store.close(),
  };
}

/** Marks the database, and deletes what an interrupted import wrote. */
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
          ? `${engine.place} is not empty: it has documents in ${await findContents(collections)}. Choose another database.`
          : `${engine.place} contains an incomplete move of ${movingFrom}. Repeat that move, or choose another database.`,
      );
    for (const name of dataCollections(collections)) await collections[name].deleteMany({});
  });
}

/** Returns the name of a collection that is not empty, or null. */
async function findContents(collections: Collections): Promise<string | null> {
  for (const name of dataCollections(collections)) {
    if ((await looselyTyped(collections[name]).findOne({})) !== null) return name;
  }
  return null;
}

const dataCollections = (collections: Collections) =>
  (Object.keys(collections) as (keyof Collections)[]).filter((name) => name !== 'schema');

/** Returns a collection whose documents are checked elsewhere: by `toCollection()`, or not at all. */
const looselyTyped = (collection: Collections[keyof Collections]) =>
  collection as unknown as Collection<Document>;
