import { fromJson } from '@bufbuild/protobuf';
import { afterEach, expect, test } from 'vitest';
import { createCrashingProcess, sweptFaults } from '../../test/support/faults/crash.ts';
import { variantSoldRequest } from '../../test/support/jobs/jobs.ts';
import {
  type NotificationFixture,
  openNotifications,
} from '../../test/support/jobs/notifications.ts';
import { newId } from '../base/id.ts';
import { approve, reject } from '../jobs/steps/decide.ts';
import { submit } from '../jobs/steps/submit.ts';
import { work } from '../jobs/steps/work.ts';
import type { BatchReference } from '../store/batches.ts';
import { sweep } from '../sweep/sweep.ts';
import { createNotifier } from './notifier.ts';

let fixture: NotificationFixture;
afterEach(() => fixture.close());

test.each(
  (['approved', 'rejected'] as const).flatMap((decision) =>
    sweptFaults.map((when) => [decision, when] as const),
  ),
)(
  'a fault at any call neither loses nor duplicates a message: a job that is %s, %s',
  async (decision, when) => {
    fixture = await openNotifications({ operators: true, approval: true });
    const messages: BatchReference[] = [];
    const alive = {
      ...fixture.jobs.context,
      queue: {
        ...fixture.jobs.context.queue,
        publish: async (message: BatchReference) => messages.push(message) > 0,
      },
    };
    const operatorId = newId();
    const method = alive.jobTypes.methods.get('gleaner.mkta.v1.MktaService.SubmitVariantSold')!;
    const jobOf = async (userId: string) =>
      (await fixture.context.store.jobs.list({ userId }, { limit: 1 })).items[0] ?? null;

    /** Performs the remaining steps of users, operators and processes. */
    const proceed = async (context: typeof alive, userId: string) => {
      const notifier = createNotifier({ ...fixture.context, store: context.store });
      if ((await jobOf(userId)) === null) {
        const request = fromJson(method.method.input, variantSoldRequest(2));
        await submit(context, method, request, {
          userId,
          mode: 'live' as const,
          keyId: null,
          idempotencyKey: undefined,
        });
      }
      await fixture.poll(notifier);
      // The next poll repeats one that failed, before the operator decides.
      await fixture.poll(notifier);
      const job = (await jobOf(userId))!;
      if (job.state === 'awaiting_approval') {
        if (decision === 'approved') await approve(context, job.id, operatorId);
        else await reject(context, job.id, operatorId, 'Not today.');
      }
      for (let message = messages.shift(); message; message = messages.shift()) {
        await work(context, message, () => {}, new AbortController().signal);
      }
      await fixture.poll(notifier);
    };

    const survives = async (last: number): Promise<boolean> => {
      const { userId } = await fixture.createUser(100);
      const victim = createCrashingProcess(alive, last, when);
      const from = fixture.receiver.received.length;
      const going = proceed(victim.context as typeof alive, userId).catch(() => {});
      await fixture.jobs.outlast(Promise.race([going, victim.crashed]), victim.isCrashed);
      if (!victim.isCrashed()) return false;
      messages.length = 0;
      for (let round = 0; round < 3; round++) {
        // Longer than any lease, so that other processes take over.
        await fixture.jobs.clock.advance(121_000);
        await sweep(alive);
        await proceed(alive, userId);
      }
      const where = `call ${last}, ${when} ${victim.crashedAt()}`;
      const job = (await jobOf(userId))!;
      expect(job.state, where).toBe(decision === 'approved' ? 'completed' : 'rejected');
      const sent = fixture.receiver.received.slice(from).map(({ headers, body }) => ({
        id: headers['webhook-id'],
        type: JSON.parse(body).type as string,
      }));
      const distinct = new Map(sent.map(({ id, type }) => [id, type]));
      const end = decision === 'approved' ? 'job.ended' : 'job.rejected';
      expect([...distinct.values()].toSorted(), where).toEqual(['job.awaiting_approval', end]);
      // At most the message in progress at the crash is sent twice.
      expect(sent.length - distinct.size, where).toBeLessThanOrEqual(1);
      return true;
    };
    let last = 1;
    while (await survives(last)) last += 1;
    expect(last).toBeGreaterThan(25);
    const all = await fixture.deliveries();
    expect(all.every(({ state }) => state === 'delivered')).toBe(true);
    expect(new Set(all.map(({ key }) => key)).size).toBe(all.length);
  },
);
