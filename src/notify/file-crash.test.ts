import { buffer } from 'node:stream/consumers';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { startS3 } from '../../test/engines/s3.ts';
import { createCrashingProcess, sweptFaults } from '../../test/support/faults/crash.ts';
import { s3Bucket, storeDestination } from '../../test/support/jobs/destinations.ts';
import { variantSoldRequest } from '../../test/support/jobs/jobs.ts';
import {
  type NotificationFixture,
  openNotifications,
} from '../../test/support/jobs/notifications.ts';
import { partBytes } from '../blobs/s3/client.ts';
import { openS3 } from '../blobs/s3/open.ts';
import { Fault } from '../contract/fault.ts';
import { createNotifier } from './notifier.ts';

const s3 = await startS3();
describe.skipIf('missing' in s3)(
  `large files in a bucket${'missing' in s3 ? ` (${s3.missing})` : ''}`,
  () => {
    if ('missing' in s3) return;
    let fixture: NotificationFixture;
    const { port } = s3;
    const reader = openS3({ url: s3.url });
    afterEach(() => fixture.close());
    afterAll(async () => {
      await reader.close();
      await s3.stop();
    });

    // Two parts, so that a failure can leave the first one.
    const contents = Buffer.alloc(partBytes + 1024 ** 2);
    for (let at = 0; at < contents.length; at += 4_096) contents.writeUInt8((at / 4_096) % 251, at);

    /**
     * Opens the fixture with a user who has a bucket as destination, and jobs with large results.
     */
    async function open() {
      fixture = await openNotifications();
      const { jobs, context } = fixture;
      context.openResults = () => ({
        contentType: 'text/csv',
        extension: 'csv',
        async *read() {
          for (let start = 0; start < contents.length; start += 500_000)
            yield contents.subarray(start, start + 500_000);
        },
      });
      const userId = await jobs.createUser(10_000);
      await storeDestination(jobs.context, userId, s3Bucket(port), {
        path: '{job_id}/{date}.{ext}',
      });
      await jobs.startWorker();
      const endedJob = async () => {
        const submitted = variantSoldRequest(1);
        const { jobId } = await jobs.submit(userId, 'SubmitVariantSold', submitted, undefined, {
          deliverTo: 'warehouse',
        });
        await jobs.waitForState(jobId, 'completed');
        return jobId as string;
      };
      return { userId, endedJob };
    }

    const deliveryOf = async (jobId: string) =>
      (await fixture.deliveries()).find(
        ({ jobId: about, channel }) => about === jobId && channel === 'file',
      );

    test.each(sweptFaults)('survive a fault at any call to the store: %s', async (when) => {
      const { endedJob } = await open();
      let last = 1;
      for (; ; last += 1) {
        const jobId = await endedJob();
        const victim = createCrashingProcess(fixture.jobs.context, last, when);
        const crashing = createNotifier({ ...fixture.context, store: victim.context.store });
        await Promise.race([fixture.poll(crashing), victim.crashed]);
        if (!victim.isCrashed()) break;
        for (let round = 0; round < 2; round += 1) {
          // Longer than any lease, so that another process takes over.
          await fixture.jobs.clock.advance(121_000);
          await fixture.poll();
        }
        const where = `call ${last}, ${when} ${victim.crashedAt()}`;
        expect(await deliveryOf(jobId), where).toMatchObject({ state: 'delivered', error: '' });
        expect(await reader.listJob(jobId), where).toEqual([`${jobId}/2030-01-07.csv`]);
        const written = await buffer(await reader.read(`${jobId}/2030-01-07.csv`));
        expect(written.equals(contents), where).toBe(true);
      }
      expect(last).toBeGreaterThan(8);
    });

    test('are sent again by another process after a crash', async () => {
      const { endedJob } = await open();
      const jobId = await endedJob();
      const { openResults } = fixture.context;
      const victim = createCrashingProcess(
        fixture.jobs.context,
        Number.POSITIVE_INFINITY,
        'before',
      );
      const dying = createNotifier({
        ...fixture.context,
        store: victim.context.store,
        openResults: (...job) => ({
          ...openResults(...job),
          async *read() {
            let read = 0;
            for await (const chunk of openResults(...job).read()) {
              read += chunk.byteLength;
              if (read > partBytes + 600_000) {
                victim.kill();
                throw new Error('the process died');
              }
              yield chunk;
            }
          },
        }),
      });
      await fixture.poll(dying);
      expect(await deliveryOf(jobId)).toMatchObject({ state: 'pending', revision: 1 });
      expect(await reader.listJob(jobId)).toEqual([]);

      await fixture.jobs.clock.advance(121_000);
      await fixture.poll();
      expect(await deliveryOf(jobId)).toMatchObject({ state: 'delivered' });
      const written = await buffer(await reader.read(`${jobId}/2030-01-07.csv`));
      expect(written.equals(contents)).toBe(true);
    });

    test('are not sent any longer by a process that lost its claim', async () => {
      const { endedJob } = await open();
      const jobId = await endedJob();
      const { openResults } = fixture.context;
      const paused = Promise.withResolvers<void>();
      const resumed = Promise.withResolvers<void>();
      const slow = createNotifier({
        ...fixture.context,
        openResults: (...job) => ({
          ...openResults(...job),
          async *read() {
            for await (const chunk of openResults(...job).read()) {
              yield chunk;
              paused.resolve();
              await resumed.promise;
            }
          },
        }),
      });
      await slow.poll();
      await paused.promise;
      // The store was unreachable for the slow process, so that its claim expired.
      const [claimed] = await fixture.context.store.deliveries.claimDue(
        fixture.jobs.clock.now() + 121_000,
        fixture.jobs.clock.now() + 122_000,
        10,
      );
      expect(claimed).toMatchObject({ jobId, revision: 2 });
      resumed.resolve();
      await slow.idle();
      expect(await deliveryOf(jobId)).toMatchObject({ state: 'pending', attempts: 0, revision: 2 });
      expect(await reader.listJob(jobId)).toEqual([]);
      await fixture.jobs.clock.advance(122_000);
      await fixture.poll();
      expect(await deliveryOf(jobId)).toMatchObject({
        state: 'delivered',
        attempts: 1,
        revision: 3,
      });
    });

    test('keep their claim while they are sent', async () => {
      const { endedJob } = await open();
      const jobId = await endedJob();
      const { openResults } = fixture.context;
      const resumed = Promise.withResolvers<void>();
      const paused = Promise.withResolvers<void>();
      const slow = createNotifier({
        ...fixture.context,
        openResults: (...job) => ({
          ...openResults(...job),
          async *read() {
            yield* openResults(...job).read();
            paused.resolve();
            await resumed.promise;
          },
        }),
      });
      await slow.poll();
      await paused.promise;
      for (let turn = 0; turn < 5; turn += 1) {
        await fixture.jobs.clock.advance(40_000);
        await fixture.poll();
      }
      expect(await deliveryOf(jobId)).toMatchObject({ state: 'pending', revision: 1 });
      resumed.resolve();
      await slow.idle();
      expect(await deliveryOf(jobId)).toMatchObject({
        state: 'delivered',
        revision: 1,
        attempts: 1,
      });
    });

    test('leave no unfinished upload after a failure', async () => {
      const { endedJob } = await open();
      const jobId = await endedJob();
      const { openResults } = fixture.context;
      fixture.context.openResults = (...job) => ({
        ...openResults(...job),
        async *read() {
          yield* openResults(...job).read();
          throw new Fault('storage_damaged', 'the records are damaged');
        },
      });
      for (let attempt = 1; attempt <= 11; attempt += 1) {
        await fixture.poll();
        const delivery = (await deliveryOf(jobId))!;
        expect(delivery).toMatchObject({
          attempts: attempt,
          error: expect.stringContaining('are damaged'),
        });
        if (delivery.nextAttemptAt !== null)
          await fixture.jobs.clock.advance(delivery.nextAttemptAt - fixture.jobs.clock.now());
      }
      const delivery = (await deliveryOf(jobId))!;
      expect(delivery.state).toBe('failed');
      expect(await s3.unfinishedUploads()).toEqual([]);
      expect(await reader.listJob(jobId)).toEqual([]);
    });
  },
);
