import { Binary, MongoClient } from 'mongodb';
import { afterAll, describe, expect, test } from 'vitest';
import { findMongo } from '../../../../test/engines/mongo.ts';
import { aFailure, aPart, aSuccess, aTime, storeClaimedBatch } from '../../contract/samples.ts';
import type { Batch } from '../../documents.ts';
import type { Store } from '../../store.ts';
import { openMongoStore } from '../open.ts';

const mongo = await findMongo();

describe.skipIf('missing' in mongo)(
  `records of an earlier version in MongoDB${'missing' in mongo ? ` (${mongo.missing})` : ''}`,
  () => {
    if ('missing' in mongo) return;
    const { fresh } = mongo;
    afterAll(() => mongo.stop());

    /**
     * Stores documents as earlier versions did: an ended batch with two records, and one in progress with one record.
     */
    async function open() {
      const uri = fresh();
      const store = openMongoStore({ uri });
      const client = new MongoClient(uri);
      const done = await storeClaimedBatch(store, 3);
      await store.recordOutcomes(done.id, 1, { 0: aSuccess() }, null);
      await store.claimBatch(done.id, 1, aTime + 60_001, aTime + 120_000);
      await store.finishBatch(done.id, 2, { 1: aFailure, 2: aSuccess(2) }, null, null, aTime);
      const running = await storeClaimedBatch(store, 2);
      await store.recordOutcomes(running.id, 1, { 1: aSuccess() }, null);
      const payloads = client.db().collection<{ _id: string; body: Binary }>('payloads');
      const record = (batch: Batch, attempt: number, index: number) => ({
        _id: `${batch.id}/${attempt}/${index}`,
        body: new Binary(Buffer.from(`${index} of ${attempt}`)),
      });
      await payloads.insertMany([
        record(done, 1, 0),
        // From a claim that was lost before its outcome was written.
        record(done, 1, 2),
        record(done, 2, 2),
        record(running, 1, 1),
      ]);
      await client
        .db()
        .collection('batches')
        .updateMany({}, { $unset: { parts: '' } });
      const close = () => Promise.all([store.close(), client.close()]);
      return { store, done, running, payloads, close };
    }

    const reread = async (store: Store, { jobId }: Batch): Promise<Batch> =>
      (await Array.fromAsync(store.readBatches(jobId)))[0]!;

    test('are read by the attempt that their outcome names', async () => {
      const { store, done, running, close } = await open();
      const textsOf = async (batch: Batch) =>
        [...(await store.readLegacyRecords(await reread(store, batch)))].map(([index, body]) => [
          index,
          Buffer.from(body).toString(),
        ]);
      expect(await textsOf(done)).toEqual([
        [0, '0 of 1'],
        [2, '2 of 2'],
      ]);
      expect(await textsOf(running)).toEqual([[1, '1 of 1']]);
      await close();
    });

    test('of ended batches are found, and are deleted once a part contains them, also repeatedly', async () => {
      const { store, done, running, payloads, close } = await open();
      const found = await store.findLegacyBatches(10);
      expect(found.map(({ id, parts }) => [id, parts])).toEqual([[done.id, []]]);
      const part = aPart('j/moved', 0, 2);
      await store.migrateLegacyRecords(done.id, part);
      await store.migrateLegacyRecords(done.id, part);
      expect((await reread(store, done)).parts).toEqual([part]);
      expect((await payloads.find().toArray()).map(({ _id }) => _id)).toEqual([`${running.id}/1/1`]);
      expect(await store.findLegacyBatches(10)).toEqual([]);
      await store.finishBatch(running.id, 1, { 0: aFailure }, aPart('j/part', 1), null, aTime);
      expect((await store.findLegacyBatches(10)).map(({ id }) => id)).toEqual([running.id]);
      await store.migrateLegacyRecords(running.id, null);
      expect((await reread(store, running)).parts).toEqual([aPart('j/part', 1)]);
      expect(await payloads.countDocuments()).toBe(0);
      await close();
    });
  },
);
