import { beforeEach, describe, expect, test } from 'vitest';
import { createManualClock } from '../../../test/support/time/clock.ts';
import { newId } from '../../base/id.ts';
import { createLog, type Log } from '../../base/log.ts';
import { createClockRecord } from '../clock-record.ts';
import { noPause } from '../origin-state.ts';
import { discardWrongTimes, voidClaims, withOriginLimits } from '../stored-times.ts';
import { aRun } from './history-samples.ts';
import { aDelivery, aTime, storeJob } from './samples.ts';
import { aSchedule } from './schedules.ts';
import { type OpenStores, setUpStores } from './stores.ts';

const day = 86_400_000;

/**
 * Times that a wrong clock stored, claims of ended processes, and the state of the shared clock.
 */
export function storedTimeConformance(open: OpenStores): void {
  const stores = setUpStores(open);
  let lines: unknown[];
  let log: Log;
  beforeEach(() => {
    lines = [];
    const warn = (fields: unknown) => void lines.push(fields);
    log = { ...createLog('silent', 'test'), warn } as unknown as Log;
  });
  const clock = createManualClock(aTime);

  describe('discardWrongTimes()', () => {
    test('makes work due whose time lies too far ahead, with one line of each kind', async () => {
      const { store } = stores;
      const { batches, job } = await storeJob(store, 4, { state: 'processing' });
      const ids = batches.map(({ id }) => id);
      await store.batches.queue(job.id, 2, aTime + day);
      await store.batches.claim(batches[0]!, 0, aTime, aTime + day);
      await store.batches.update({ id: ids[2]!, jobId: job.id }, { notBefore: aTime + day });
      await store.batches.update({ id: ids[3]!, jobId: job.id }, { notBefore: aTime + 60_000 });
      const delivery = aDelivery({ nextAttemptAt: aTime + day });
      const soon = aDelivery({ nextAttemptAt: aTime + 8 * 3_600_000 });
      for (const each of [delivery, soon]) await store.deliveries.insert(each);
      const run = aRun({ dueAt: aTime + day });
      await store.trackingRuns.insert({ ...run, activeUser: null });
      const schedule = { ...aSchedule({ notice: 'paused', noticeAt: aTime + day }), request: '{}' };
      await store.schedules.insert(schedule);
      const removals = [
        { jobId: newId(), deletedAt: aTime + day, dueAt: aTime + day + 30_000 },
        { jobId: newId(), deletedAt: aTime, dueAt: aTime + 16 * 60_000 },
      ];
      await store.fileRemovals.upsert(removals);
      await store.jobs.update(
        { id: job.id },
        { noticeDue: 'completed', noticeAt: aTime + day, dueAt: aTime + day },
      );

      await discardWrongTimes(store, clock, log);
      const [claimed, queued, waiting, delayed] = await store.batches.find({ jobId: job.id });
      expect([
        claimed!.leaseUntil,
        queued!.publishedAt,
        waiting!.notBefore,
        delayed!.notBefore,
      ]).toEqual([aTime, aTime, aTime, aTime + 60_000]);
      expect((await store.deliveries.get(delivery.id))!.nextAttemptAt).toBe(aTime);
      expect(await store.deliveries.get(soon.id)).toEqual(soon);
      expect((await store.trackingRuns.get(run.jobId))!.dueAt).toBe(aTime);
      expect(await store.fileRemovals.get(removals[0]!.jobId)).toMatchObject({
        dueAt: aTime + 30_000,
      });
      expect(await store.fileRemovals.get(removals[1]!.jobId)).toEqual(removals[1]);
      expect((await store.schedules.get(schedule.id))!.noticeAt).toBe(aTime);
      expect(await store.jobs.get(job.id)).toMatchObject({ noticeAt: aTime, dueAt: aTime });
      expect(lines.map((line) => (line as { kind: string }).kind)).toEqual([
        'claims',
        'publications',
        'delays of batches',
        'message repeats',
        'comparisons',
        'removals of files',
        'messages about jobs',
        'messages about schedules',
        'steps of jobs',
      ]);
      await discardWrongTimes(store, clock, log);
      expect(lines).toHaveLength(9);
    });

    test('keeps the reminder of an approval deadline', async () => {
      const { store } = stores;
      const { job } = await storeJob(store, 1);
      const reminder = { noticeDue: 'approval_expiring', noticeAt: aTime + day } as const;
      await store.jobs.update({ id: job.id }, reminder);
      await discardWrongTimes(store, clock, log);
      expect(await store.jobs.get(job.id)).toMatchObject(reminder);
      expect(lines).toEqual([]);
    });
  });

  describe('withOriginLimits()', () => {
    test('waits for no slot and no pause that lies too far ahead', async () => {
      const { origins } = withOriginLimits(stores.store, log);
      const origin = `https://${newId()}.example`;
      await stores.store.origins.reserve(origin, 1, 100, aTime + day);
      const pause = {
        ...noPause,
        revision: 1,
        until: aTime + day,
        failures: 1,
        reason: 'page_blocked',
      };
      await stores.store.origins.putPause(origin, pause);
      expect(await origins.reserve(origin, 1, 100, aTime)).toMatchObject({
        first: aTime,
        pause: { until: aTime, revision: 2, failures: 1 },
      });
      expect(await origins.reserve(origin, 1, 100, aTime)).toMatchObject({ first: aTime + 100 });
      expect(lines).toHaveLength(1);
    });

    test('keeps slots and pauses that are allowed', async () => {
      const { origins } = withOriginLimits(stores.store, log);
      const origin = `https://${newId()}.example`;
      const until = aTime + 15 * 60_000;
      await origins.putPause(origin, {
        ...noPause,
        revision: 1,
        until,
        failures: 1,
        reason: 'page_blocked',
      });
      await origins.reserve(origin, 1, 30_000, aTime);
      await origins.reserve(origin, 1, 30_000, aTime);
      expect(await origins.reserve(origin, 1, 30_000, aTime)).toMatchObject({
        first: aTime + 60_000,
        pause: { until, revision: 1 },
      });
      expect(lines).toEqual([]);
    });

    test('gives the permits of a holder whose lease lies too far ahead to others', async () => {
      const { origins } = withOriginLimits(stores.store, log);
      const origin = `https://${newId()}.example`;
      const request = { busy: 0, requested: 4, limit: 4 };
      const ahead = { now: aTime + day, until: aTime + day + 6_000 };
      await stores.store.origins.lease(origin, { ...request, ...ahead, holder: 'one' });
      const present = { now: aTime, until: aTime + 6_000 };
      expect(
        await origins.lease(origin, { ...request, ...present, holder: 'other' }),
      ).toMatchObject({
        permits: 4,
      });
    });
  });

  describe('voidClaims()', () => {
    test('makes due what ended processes may have claimed, and nothing later', async () => {
      const { store } = stores;
      const { job } = await storeJob(store, 1, { state: 'settling' });
      const claimed = aDelivery({ nextAttemptAt: aTime + 120_000 });
      const repeated = aDelivery({ nextAttemptAt: aTime + 600_000 });
      for (const each of [claimed, repeated]) await store.deliveries.insert(each);
      const run = aRun({ dueAt: aTime + 60_000 });
      await store.trackingRuns.insert({ ...run, activeUser: null });
      const schedule = { ...aSchedule({ dueAt: aTime + 60_000 }), request: '{}' };
      await store.schedules.insert(schedule);
      await voidClaims(store, clock);
      expect((await store.jobs.get(job.id))!.dueAt).toBe(aTime);
      expect((await store.deliveries.get(claimed.id))!.nextAttemptAt).toBe(aTime);
      expect(await store.deliveries.get(repeated.id)).toEqual(repeated);
      expect((await store.trackingRuns.get(run.jobId))!.dueAt).toBe(aTime);
      expect((await store.schedules.get(schedule.id))!.dueAt).toBe(aTime);
    });
  });

  describe('createClockRecord()', () => {
    test('keeps one state for all processes, which one of two concurrent changes replaces', async () => {
      const [one, other] = [
        createClockRecord(() => stores.store),
        createClockRecord(() => stores.other),
      ];
      await one.create({ aheadMs: 0, reached: aTime });
      await other.create({ aheadMs: 7, reached: 7 });
      expect(await other.read()).toEqual({ aheadMs: 0, reached: aTime });
      const changes = await Promise.all([one.change(0, -day), other.change(0, 5)]);
      expect(changes.filter(Boolean)).toHaveLength(1);
      await one.reach(aTime + 5_000);
      await other.reach(aTime + 4_000);
      expect(await one.read()).toMatchObject({ reached: aTime + 5_000 });
    });
  });
}
