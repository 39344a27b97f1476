import { afterEach, expect, test } from 'vitest';
import { createCrashingProcess } from '../../test/support/faults/crash.ts';
import { putAddress, storeDestination } from '../../test/support/jobs/destinations.ts';
import { variantSoldRequest } from '../../test/support/jobs/jobs.ts';
import {
  type NotificationFixture,
  openNotifications,
} from '../../test/support/jobs/notifications.ts';
import { track } from '../history/tracker.ts';
import { qualityOf } from '../jobs/queries/units.ts';
import { releaseHold } from '../jobs/steps/decide.ts';
import { aRule } from '../store/conformance/history-samples.ts';
import { listTrackedItems } from '../store/history.ts';
import { createNotifier } from './notifier.ts';

let fixture: NotificationFixture;
let userId: string;
afterEach(() => fixture.close());

/** Opens the fixture with a user who has a webhook and a destination, and a worker. */
async function open() {
  fixture = await openNotifications();
  ({ userId } = await fixture.createUser(10_000));
  await storeDestination(fixture.jobs.context, userId, putAddress(`${fixture.receiver.url}/inbox`));
  await fixture.jobs.startWorker();
}

/** Submits a job of five items, some of which have no name, and waits for its end. */
async function endedJob(hold: string, series = '') {
  const options = { deliverTo: 'warehouse', hold, track: series };
  const request = variantSoldRequest(5);
  const { jobId } = await fixture.jobs.submit(
    userId,
    'SubmitVariantSold',
    request,
    undefined,
    options,
  );
  return fixture.jobs.waitForState(jobId, 'completed', 'partial_complete');
}

const types = async (jobId: string) =>
  (await fixture.deliveries()).filter((each) => each.jobId === jobId).map(({ type }) => type);

/** Returns a listed field that every record has. */
async function filledField(): Promise<string> {
  const job = await endedJob('');
  const { fields } = await qualityOf(fixture.jobs.context, job);
  return fields.find(({ percent }) => percent === 100)!.name;
}

/** Returns a rule that no job meets, because a field is empty in some records. */
async function brokenRule(): Promise<string> {
  const job = await endedJob('');
  const { fields } = await qualityOf(fixture.jobs.context, job);
  const field = fields.find(({ percent }) => percent < 100);
  if (field === undefined) throw new Error('every field of the sample is filled');
  return `${field.name}:100`;
}

test('a job below the minimum is held: its messages are sent, its files are not', async () => {
  await open();
  const rule = await brokenRule();
  const job = await endedJob(rule);
  expect(job.hold).toMatchObject({ state: 'held', reasons: [{ minimum: 100 }], decidedAt: null });
  await fixture.poll();
  expect((await types(job.id)).toSorted()).toEqual(['job.ended', 'job.held']);
  const held = fixture.receiver.received
    .filter(({ path }) => !path.includes('/inbox/'))
    .map(({ body }) => JSON.parse(body))
    .find(({ type }) => type === 'job.held');
  expect(held.data).toMatchObject({
    job_id: job.id,
    reasons: job.hold!.reasons,
    release_path: `/v1/jobs/${job.id}/release`,
  });

  const released = await releaseHold(fixture.jobs.context, job, 'released');
  expect(released.hold).toMatchObject({ state: 'released', decidedAt: fixture.jobs.clock.now() });
  expect(await releaseHold(fixture.jobs.context, job, 'released')).toEqual(released);
  await expect(releaseHold(fixture.jobs.context, job, 'discarded')).rejects.toThrow(
    'The hold was released.',
  );
  for (let turn = 0; turn < 2; turn += 1) await fixture.poll();
  expect((await types(job.id)).toSorted()).toEqual(['job.ended', 'job.held', 'job.results']);
});

test('a job that meets its minimum is delivered at once, and cannot be released', async () => {
  await open();
  const job = await endedJob(`${await filledField()}:100`);
  expect(job.hold).toBeNull();
  await fixture.poll();
  expect((await types(job.id)).toSorted()).toEqual(['job.ended', 'job.results']);
  await expect(releaseHold(fixture.jobs.context, job, 'released')).rejects.toThrow(
    'The job is not held.',
  );
});

test('a discarded job is never delivered', async () => {
  await open();
  const job = await endedJob(await brokenRule());
  await releaseHold(fixture.jobs.context, job, 'discarded');
  await fixture.poll();
  expect(await types(job.id)).toEqual(['job.ended']);
});

/** Announces ended jobs, compares them, and sends the messages. */
async function pollAndCompare() {
  await fixture.poll();
  while (await track(fixture.jobs.context, new AbortController().signal));
  await fixture.poll();
}

test('a held job enters the history and causes messages of rules once it is released', async () => {
  await open();
  const { store } = fixture.jobs.context;
  await store.rules.insert(aRule({ userId, condition: 'price_above', threshold: 0.001 }));
  const job = await endedJob(await brokenRule(), 'nightly');
  await pollAndCompare();
  expect(await store.trackingRuns.get(job.id)).toBeNull();
  expect((await listTrackedItems(store, userId, '', {}, { limit: 10 })).items).toEqual([]);
  expect(await types(job.id)).not.toContain('item.changed');

  await releaseHold(fixture.jobs.context, job, 'released');
  await pollAndCompare();
  expect(await store.trackingRuns.get(job.id)).toMatchObject({ stage: 'done', counts: { new: 5 } });
  expect((await types(job.id)).filter((type) => type === 'item.changed')).toHaveLength(5);
});

test.each(['before', 'after'] as const)(
  'a job discarded %s its messages is not compared',
  async (when) => {
    await open();
    const { store } = fixture.jobs.context;
    await store.rules.insert(aRule({ userId, condition: 'price_above', threshold: 0.001 }));
    const job = await endedJob(await brokenRule(), 'nightly');
    if (when === 'after') await pollAndCompare();
    await releaseHold(fixture.jobs.context, job, 'discarded');
    await pollAndCompare();
    expect(await store.trackingRuns.get(job.id)).toBeNull();
    expect((await listTrackedItems(store, userId, '', {}, { limit: 10 })).items).toEqual([]);
    expect(await types(job.id)).not.toContain('item.changed');
  },
);

test('a submission with an unknown field is refused without a charge', async () => {
  await open();
  const before = await fixture.jobs.balance(userId);
  await expect(endedJob('cost:95')).rejects.toMatchObject({
    code: 'invalid',
    problems: [
      {
        loc: ['query', 'hold'],
        msg: expect.stringContaining("'cost' is not a field of the records"),
      },
    ],
  });
  expect(await fixture.jobs.balance(userId)).toBe(before);
});

test.each(['before', 'after'] as const)(
  'a crash %s any call neither loses nor repeats the file of a released job',
  async (when) => {
    await open();
    const rule = await brokenRule();
    await fixture.poll();
    let last = 1;
    for (; ; last += 1) {
      const job = await endedJob(rule);
      const victim = createCrashingProcess(fixture.jobs.context, last, when);
      const notifier = createNotifier({ ...fixture.context, store: victim.context.store });
      const proceed = async () => {
        const releasing = releaseHold(victim.context, job, 'released');
        await fixture.poll(notifier);
        await releasing;
        await fixture.poll(notifier);
      };
      await Promise.race([proceed().catch(() => {}), victim.crashed]);
      if (!victim.isCrashed()) break;
      await releaseHold(fixture.jobs.context, job, 'released');
      for (let round = 0; round < 3; round += 1) {
        await fixture.jobs.clock.advance(121_000);
        await fixture.poll();
      }
      const where = `death at call ${last}, ${when} ${victim.crashedAt()}`;
      const its = (await fixture.deliveries()).filter((each) => each.jobId === job.id);
      const sent = its
        .map(({ type, state }) => `${type} ${state}`)
        .filter((each) => !each.startsWith('job.held'));
      expect(sent.toSorted(), where).toEqual(['job.ended delivered', 'job.results delivered']);
    }
    expect(last).toBeGreaterThan(8);
  },
);
