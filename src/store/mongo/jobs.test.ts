import { MongoClient } from 'mongodb';
import { afterAll, describe, expect, test } from 'vitest';
import { findMongo } from '../../../test/engines/mongo.ts';
import { haltBefore } from '../../../test/support/faults/halting.ts';
import { aJob, someBatches } from '../conformance/samples.ts';
import { createJob, removeJob } from './jobs.ts';
import { collectionsOf } from './schema.ts';
import { writeBatch, writeJob } from './shapes.ts';

const mongo = await findMongo();

describe.skipIf('missing' in mongo)(
  `creating jobs in MongoDB${'missing' in mongo ? ` (${mongo.missing})` : ''}`,
  () => {
    if ('missing' in mongo) return;
    const client = new MongoClient(mongo.uri);
    const collections = collectionsOf(client.db());
    const { jobs, batches } = collections;
    afterAll(async () => {
      await client.close();
      await mongo.stop();
    });

    const aDraft = async () => {
      const job = aJob({ totalBatches: 3, totalUnits: 6 });
      const its = someBatches(job, 3);
      await jobs.insertOne(writeJob(job, 'early', 'writing'));
      await batches.insertMany(its.map((batch) => writeBatch(batch, 'early')));
      return { job, its, count: () => batches.countDocuments({ jobId: job.id }) };
    };

    test('a delayed deletion leaves the batches of a later draft', async () => {
      const { job, its, count } = await aDraft();
      const late = haltBefore(2, collections, (halting) =>
        removeJob(halting, { _id: job.id, state: 'writing' }),
      );
      await late.reached;
      expect(await removeJob(collections, { _id: job.id, state: 'removing' })).toBe(3);
      // A delayed writer of the early draft that ends before it can clean up.
      await batches.insertOne(writeBatch(its[1]!, 'early'));
      await createJob(collections, job, its);
      late.resume();
      await late.result;
      expect(await count()).toBe(3);
      expect(await jobs.findOne({ _id: job.id })).toMatchObject({ state: 'submitted' });
    });

    test('a later draft is not completed if a delayed deletion removed its batches', async () => {
      const { job, its, count } = await aDraft();
      const late = haltBefore(2, collections, (halting) =>
        removeJob(halting, { _id: job.id, state: 'writing' }),
      );
      await late.reached;
      await removeJob(collections, { _id: job.id, state: 'removing' });
      await batches.insertOne(writeBatch(its[1]!, 'early'));
      // Found, but not taken over yet.
      const writer = haltBefore(3, collections, (halting) => createJob(halting, job, its));
      await writer.reached;
      late.resume();
      await late.result;
      writer.resume();
      await expect(writer.result).rejects.toMatchObject({ code: 'unavailable' });
      expect(await jobs.findOne({ _id: job.id })).toMatchObject({ state: 'writing' });
      await createJob(collections, job, its);
      expect(await count()).toBe(3);
    });

    test('nothing is written during a deletion, and the next deletion removes the rest', async () => {
      const { job, its, count } = await aDraft();
      await haltBefore(2, collections, (halting) =>
        removeJob(halting, { _id: job.id, state: 'writing' }),
      ).reached;
      await expect(createJob(collections, job, its)).rejects.toMatchObject({ code: 'unavailable' });
      expect(await removeJob(collections, { _id: job.id, state: 'removing' })).toBe(3);
      expect(await count()).toBe(0);
      await createJob(collections, job, its);
      expect(await count()).toBe(3);
    });

    test.each([2, 3])(
      'a writer whose job was deleted before its step %i leaves nothing',
      async (step) => {
        const job = aJob({ totalBatches: 3, totalUnits: 6 });
        const writer = haltBefore(step, collections, (halting) =>
          createJob(halting, job, someBatches(job, 3)),
        );
        await writer.reached;
        await removeJob(collections, { _id: job.id, state: 'writing' });
        writer.resume();
        await expect(writer.result).rejects.toMatchObject({ code: 'unavailable' });
        expect(await batches.countDocuments({ jobId: job.id })).toBe(0);
        expect(await jobs.findOne({ _id: job.id })).toBeNull();
      },
    );

    test.each([2, 3])(
      'a writer that ended before its step %i is completed by a second call',
      async (step) => {
        const job = aJob({ totalBatches: 3, totalUnits: 6 });
        const its = someBatches(job, 3);
        await haltBefore(step, collections, (halting) => createJob(halting, job, its)).reached;
        await createJob(collections, { ...job, cost: 60 }, its);
        expect(await jobs.findOne({ _id: job.id })).toMatchObject({ state: 'submitted', cost: 60 });
        expect(await batches.countDocuments({ jobId: job.id })).toBe(3);
      },
    );
  },
);
