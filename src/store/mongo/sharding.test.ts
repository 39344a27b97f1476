import { MongoClient } from 'mongodb';
import { afterAll, describe, expect, test } from 'vitest';
import { findMongo } from '../../../test/engines/mongo.ts';
import { shardKeys } from '../../../test/support/engines/shard-keys.ts';
import { collectionNames, declarations } from '../collections.ts';
import type { CollectionName } from '../stored-documents.ts';
import { openMongoStore } from './open.ts';

const mongo = await findMongo();

describe.skipIf('missing' in mongo)(
  `sharding${'missing' in mongo ? ` (${mongo.missing})` : ''}`,
  () => {
    if ('missing' in mongo) return;
    afterAll(() => mongo.stop());

    test('the documented shard keys are in every unique index of their collections', async () => {
      const store = openMongoStore({ uri: mongo.uri });
      await store.ping();
      await store.close();
      const client = new MongoClient(mongo.uri);
      const uniqueKeys = async (collection: string): Promise<string[][]> => {
        const indexes = await client.db().collection(collection).indexes();
        return indexes.filter(({ unique }) => unique).map(({ key }) => Object.keys(key));
      };
      try {
        const existing = (await client.db().listCollections().toArray()).map(({ name }) => name);
        const grown = [
          'batches',
          'ledger',
          'pagePlaces',
          'observations',
          'trackedItems',
          'itemChanges',
          'itemUnits',
        ];
        expect([...shardKeys.keys()]).toEqual(expect.arrayContaining(grown));
        for (const [collection, key] of shardKeys) {
          expect(['batches', 'ledger', ...collectionNames]).toContain(collection);
          // Equal ids are on one shard, which is where MongoDB enforces that an id is unique.
          const declaration = declarations[collection as CollectionName];
          if (key !== '_id' && declaration !== undefined) expect(declaration.id).toContain(key);
          // Collections without indexes are created by the first write.
          const keys = existing.includes(collection) ? await uniqueKeys(collection) : [];
          for (const fields of keys) expect([collection, fields[0]]).toEqual([collection, key]);
        }
        expect(await uniqueKeys('batches')).toEqual([['jobId', 'seq']]);
        // The reason why these collections are not sharded.
        expect(await uniqueKeys('jobs')).toEqual([['number']]);
        expect(await uniqueKeys('trackingRuns')).toEqual([['activeUser']]);
      } finally {
        await client.close();
      }
    });
  },
);
