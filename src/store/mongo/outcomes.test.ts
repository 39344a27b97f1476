import { MongoClient } from 'mongodb';
import { afterAll, describe, expect, test } from 'vitest';
import { findMongo } from '../../../test/engines/mongo.ts';
import { aPayload, aSuccess, aTime, keepClaimed } from '../contract/samples.ts';
import { until } from './halting.ts';
import { openMongoStore } from './open.ts';
import { writeOutcomes } from './outcomes.ts';
import { collectionsOf } from './schema.ts';

const mongo = await findMongo();

describe.skipIf('missing' in mongo)(
  `payloads of late workers in MongoDB${'missing' in mongo ? ` (${mongo.missing})` : ''}`,
  () => {
    if ('missing' in mongo) return;
    const uri = mongo.fresh();
    const client = new MongoClient(uri);
    const collections = collectionsOf(client.db());
    const store = openMongoStore({ uri });
    afterAll(async () => {
      await store.close();
      await client.close();
      await mongo.stop();
    });

    const kept = async (batchId: string) => {
      const found = await collections.payloads.find({}, { projection: { _id: 1 } }).toArray();
      return found
        .map(({ _id }) => _id)
        .filter((id) => id.startsWith(`${batchId}/`))
        .map((id) => id.slice(batchId.length + 1))
        .sort();
    };
    /** Writes results of some units, all under one attempt. */
    const results = (attempt: number, ...indexes: number[]) => ({
      outcomes: Object.fromEntries(indexes.map((index) => [index, aSuccess(attempt)])),
      payloads: indexes.map((index) => aPayload(index, `${index} of ${attempt}`)),
    });
    const record = (batchId: string, attempt: number, ...indexes: number[]) => {
      const { outcomes, payloads } = results(attempt, ...indexes);
      return store.recordOutcomes(batchId, attempt, outcomes, payloads);
    };
    const finish = (batchId: string, attempt: number, ...indexes: number[]) => {
      const { outcomes, payloads } = results(attempt, ...indexes);
      return store.finishBatch(batchId, attempt, outcomes, payloads, null, aTime);
    };
    const claimAgain = (batchId: string) => store.claimBatch(batchId, 1, aTime + 60_001, aTime + 120_000);

    test('go when it finds that its claim is lost, those that were recorded before stay', async () => {
      const { id, jobId } = await keepClaimed(store, 3);
      expect(await record(id, 1, 0)).toBe(true);
      // Its payloads are written, its outcomes are not.
      const late = until(3, collections, (halting) => writeOutcomes(halting, id, 1, results(1, 1, 2)));
      await late.reached;
      expect(await kept(id)).toEqual(['1/0', '1/1', '1/2']);
      await claimAgain(id);
      late.resume();
      expect(await late.result).toBe(false);
      expect(await kept(id)).toEqual(['1/0']);
      expect(await finish(id, 2, 1, 2)).toBe(true);
      expect(await kept(id)).toEqual(['1/0', '2/1', '2/2']);
      const { batch } = (await store.findUnit(jobId, 'unit 0'))!;
      expect((await store.readPayloads(batch)).size).toBe(3);
    });

    test('go at the end of the batch where it died before it could tell', async () => {
      const { id, jobId } = await keepClaimed(store, 3);
      await record(id, 1, 0);
      await until(3, collections, (halting) => writeOutcomes(halting, id, 1, results(1, 1, 2))).reached;
      await claimAgain(id);
      expect(await record(id, 2, 1)).toBe(true);
      expect(await kept(id)).toEqual(['1/0', '1/1', '1/2', '2/1']);
      expect(await finish(id, 2, 2)).toBe(true);
      expect(await kept(id)).toEqual(['1/0', '2/1', '2/2']);
      const { batch } = (await store.findUnit(jobId, 'unit 0'))!;
      expect((await store.readPayloads(batch)).size).toBe(3);
    });
  },
);
