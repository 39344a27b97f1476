import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { plainIds } from '../../sandbox/mkta/ids.ts';
import { findStores } from '../../test/support/engines/stores.ts';
import { putAddress, storeDestination } from '../../test/support/jobs/destinations.ts';
import {
  type NotificationFixture,
  openNotifications,
} from '../../test/support/jobs/notifications.ts';
import { minute, type ScheduleFixture, withSchedules } from '../../test/support/jobs/schedules.ts';
import type { JobOptions } from '../contract/submit-options.ts';
import { qualityOf } from '../jobs/queries/units.ts';
import { releaseHold } from '../jobs/steps/decide.ts';
import type { Job } from '../store/documents.ts';
import { deleteSchedule } from '../store/schedules.ts';
import type { ScheduleCaller } from './change.ts';

describe.each(await findStores())('on $name', ({ open }) => {
  describe.skipIf(open === null)('the runs of a schedule with a destination', () => {
    let notifications: NotificationFixture;
    let fixture: ScheduleFixture;
    let caller: ScheduleCaller;
    beforeEach(async () => {
      notifications = await openNotifications({ store: open?.() });
      fixture = withSchedules(notifications.jobs);
      caller = await fixture.createCaller(10_000);
      const address = putAddress(`${notifications.receiver.url}/inbox`);
      await storeDestination(fixture.context, caller.userId, address);
      await fixture.startWorker();
    });
    afterEach(() => notifications.close());

    const create = (options: JobOptions) => {
      const items = plainIds(5).map((id) => ({
        item_id: String(id),
        shop_id: '77',
        country: 'sg',
      }));
      const request = JSON.stringify({ items });
      return fixture.create(caller, { kind: 'variant_sold', request, options });
    };
    /**
     * Starts the due run of a schedule, and returns its job when it has ended and its messages are
     * sent.
     */
    const nextJob = async (scheduleId: string): Promise<Job> => {
      await fixture.tick(minute);
      const { jobId } = (await fixture.runs(scheduleId)).at(-1)!;
      const job = await fixture.waitForState(jobId!, 'completed', 'partial_complete');
      await notifications.poll();
      return job;
    };
    /** Returns the jobs whose files the destination has received, oldest first. */
    const delivered = () =>
      notifications.receiver.received.flatMap(
        ({ path }) => /\/inbox\/.*\/([^/]+)\.jsonl$/.exec(path)?.[1] ?? [],
      );

    test('are delivered, each under its own name', async () => {
      const { id } = await create({ deliverTo: 'warehouse' });
      const first = await nextJob(id);
      await fixture.tick(20_000);
      const second = await nextJob(id);
      await notifications.poll();
      expect(delivered()).toEqual([first.id, second.id]);
    });

    test('are not delivered while they are held', async () => {
      const plain = await create({ deliverTo: 'warehouse' });
      const { fields } = await qualityOf(fixture.context, await nextJob(plain.id));
      const hold = `${fields.find(({ percent }) => percent < 100)!.name}:100`;
      await deleteSchedule(fixture.context.store, plain.id);
      const { id } = await create({ deliverTo: 'warehouse', hold });
      const before = delivered();
      const job = await nextJob(id);
      expect(job.hold).toMatchObject({ state: 'held' });
      await fixture.tick(20_000);
      await notifications.poll();
      expect(delivered()).toEqual(before);
      expect((await fixture.runs(id))[0]).toMatchObject({ jobId: job.id, state: job.state });
      await releaseHold(fixture.context, job, 'released');
      for (let turn = 0; turn < 2; turn += 1) await notifications.poll();
      expect(delivered()).toEqual([...before, job.id]);
    });
  });
});
