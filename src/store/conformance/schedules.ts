import { expect, test } from 'vitest';
import { newId } from '../../base/id.ts';
import type { Schedule, ScheduleRun } from '../schedules.ts';
import { aTime } from './samples.ts';
import { allPages, type OpenStores, runConcurrently, setUpStores } from './stores.ts';

/** An active schedule. */
export const aSchedule = (fields: Partial<Schedule> = {}): Schedule => ({
  id: newId(),
  userId: newId(),
  keyId: newId(),
  name: 'Prices',
  market: 'mktb',
  kind: 'pdp_bulk',
  options: { maxCredits: 10 },
  units: 2,
  cron: '0 8 * * *',
  timeZone: 'Asia/Singapore',
  startAt: null,
  endAt: aTime + 90_000_000,
  maxTotalCredits: 1_000,
  overlap: 'skip',
  missed: 'run_once',
  state: 'active',
  stateSince: aTime,
  reason: '',
  version: 1,
  approval: { by: 'operator-1', cost: 20 },
  nextRunAt: aTime + 3_600_000,
  dueAt: aTime + 3_600_000,
  pending: null,
  openRuns: [],
  creditsSpent: 0,
  failures: 0,
  notice: null,
  noticeAt: null,
  createdAt: aTime,
  updatedAt: aTime,
  revision: 1,
  ...fields,
});

/** A run whose job has not ended. */
export const aRun = ({ id, userId }: Schedule, fields: Partial<ScheduleRun> = {}): ScheduleRun => ({
  id: newId(),
  scheduleId: id,
  userId,
  scheduledFor: aTime,
  createdAt: aTime + 5,
  trigger: 'schedule',
  state: 'running',
  reason: '',
  jobId: newId(),
  cost: 10,
  refunded: 0,
  endedAt: null,
  revision: 2,
  ...fields,
});

const request = JSON.stringify({ items: [{ url: 'https://é.example/a' }] });

/** Schedules and their runs. */
export function scheduleConformance(open: OpenStores): void {
  const stores = setUpStores(open);
  const storeSchedule = async (fields: Partial<Schedule> = {}) => {
    const schedule = aSchedule(fields);
    await stores.store.createSchedule(schedule, request);
    return schedule;
  };

  test('stores a schedule and its request once', async () => {
    const schedule = aSchedule();
    expect(await stores.store.createSchedule(schedule, request)).toBe(true);
    expect(await stores.other.createSchedule({ ...schedule, name: 'other' }, '{}')).toBe(false);
    expect(await stores.other.getSchedule(schedule.id)).toEqual(schedule);
    expect(await stores.other.getScheduleRequest(schedule.id)).toEqual({ request, revision: 1 });
    expect(await stores.store.getSchedule(newId())).toBeNull();
    expect(await stores.store.getScheduleRequest(newId())).toBeNull();
  });

  test('changes a schedule only from the revision that was read', async () => {
    const schedule = await storeSchedule();
    const pending = {
      id: newId(),
      scheduledFor: aTime,
      startedAt: aTime + 1,
      trigger: 'manual' as const,
      keyId: newId(),
      isQueued: true,
    };
    const patch = {
      pending,
      openRuns: [{ runId: newId(), jobId: newId(), cost: 8 }],
      dueAt: null,
      options: {},
    };
    const changed = { ...schedule, ...patch, revision: 2 };
    expect(await stores.store.updateSchedule(schedule.id, 1, patch)).toEqual(changed);
    expect(await stores.other.updateSchedule(schedule.id, 1, { name: 'late' })).toBeNull();
    expect(await stores.other.getSchedule(schedule.id)).toEqual(changed);
    expect(await stores.other.getScheduleRequest(schedule.id)).toEqual({ request, revision: 2 });
    await stores.other.updateSchedule(schedule.id, 2, { request: '{}', pending: null });
    expect(await stores.store.getScheduleRequest(schedule.id)).toEqual({ request: '{}', revision: 3 });
    expect(await stores.store.updateSchedule(newId(), 1, patch)).toBeNull();
  });

  test('gives concurrent changes of one revision to one caller', async () => {
    const { id } = await storeSchedule();
    const results = await runConcurrently(8, stores, (store, turn) =>
      store.updateSchedule(id, 1, { failures: turn }),
    );
    const winners = results.filter((result) => result !== null);
    expect(winners).toHaveLength(1);
    expect(await stores.store.getSchedule(id)).toEqual(winners[0]);
  });

  test('lists schedules of a user or a state, newest first, and counts them', async () => {
    const userId = newId();
    const all = [];
    for (const at of [2, 3, 1]) all.push(await storeSchedule({ userId, createdAt: aTime + at }));
    const rejected = await storeSchedule({ userId, createdAt: aTime, state: 'rejected' });
    await storeSchedule();
    const list = (filter: Parameters<typeof stores.store.listSchedules>[0]) =>
      allPages(2, (page) => stores.other.listSchedules(filter, page));
    expect(await list({ userId })).toEqual([all[1], all[0], all[2], rejected]);
    expect(await list({ userId, state: 'active' })).toEqual([all[1], all[0], all[2]]);
    expect(await list({ state: 'rejected' })).toEqual([rejected]);
    expect(await list({ userId: newId() })).toEqual([]);
    expect(await stores.other.countSchedules(userId, 100)).toBe(4);
    expect(await stores.other.countSchedules(userId, 3)).toBe(3);
    expect(await stores.other.countSchedules(newId(), 3)).toBe(0);
  });

  test('claims due schedules, the longest due first', async () => {
    const past = aTime - 9_000_000;
    const [second, first] = [await storeSchedule({ dueAt: past + 2 }), await storeSchedule({ dueAt: past })];
    await storeSchedule({ dueAt: null });
    const claim = async (now: number, limit = 10) =>
      (await stores.other.claimSchedules(now, past + 9, limit)).map(({ id }) => id);
    expect(await claim(past + 2, 0)).toEqual([]);
    expect(await claim(past - 1)).toEqual([]);
    expect(await claim(past + 2, 1)).toEqual([first.id]);
    expect(await stores.store.getSchedule(first.id)).toEqual({ ...first, dueAt: past + 9, revision: 2 });
    expect(await stores.store.updateSchedule(first.id, 1, { failures: 1 })).toBeNull();
    expect(await claim(past + 2)).toEqual([second.id]);
    expect(await claim(past + 8)).toEqual([]);
    expect(await claim(past + 9)).toHaveLength(2);
  });

  test('finds schedules with due messages, and replaces each message once', async () => {
    const past = aTime - 9_000_000;
    const rejected = { state: 'rejected', notice: 'rejected' } as const;
    const second = await storeSchedule({ ...rejected, noticeAt: past + 2 });
    const first = await storeSchedule({ notice: 'paused', noticeAt: past });
    await storeSchedule();
    const find = async (now: number, limit = 10) =>
      (await stores.other.findSchedulesWithDueNotice(now, limit)).map(({ id }) => id);
    expect(await find(past + 2)).toEqual([first.id, second.id]);
    expect(await find(past + 1)).toEqual([first.id]);
    expect(await find(past + 2, 1)).toEqual([first.id]);
    expect(await find(past + 2, 0)).toEqual([]);
    const { advanceScheduleNotice } = stores.store;
    expect(await advanceScheduleNotice({ ...second, stateSince: aTime - 1 }, null)).toBe(false);
    expect(await advanceScheduleNotice({ ...second, notice: 'paused' }, null)).toBe(false);
    expect(await advanceScheduleNotice({ ...second, notice: null }, null)).toBe(false);
    const next = { reason: 'paused', at: past + 5 } as const;
    const moves = await runConcurrently(4, stores, (store) => store.advanceScheduleNotice(second, next));
    expect(moves.filter(Boolean)).toHaveLength(1);
    const later = { ...second, notice: next.reason, noticeAt: next.at };
    expect(await stores.other.getSchedule(second.id)).toEqual(later);
    expect(await stores.other.advanceScheduleNotice(later, null)).toBe(true);
    expect(await stores.store.getSchedule(second.id)).toEqual({ ...second, notice: null, noticeAt: null });
    await stores.other.deleteSchedule(first.id);
    expect(await find(past + 9)).toEqual([]);
  });

  test('keeps the latest revision of a run', async () => {
    const schedule = await storeSchedule();
    const run = aRun(schedule);
    await stores.store.putScheduleRun(run);
    const ended = { ...run, state: 'completed' as const, endedAt: aTime + 9, refunded: 5, revision: 4 };
    await stores.other.putScheduleRun(ended);
    await stores.store.putScheduleRun(run);
    await stores.store.putScheduleRun({ ...run, reason: 'same revision', revision: 4 });
    expect(await stores.other.getScheduleRun(run.id)).toEqual(ended);
    expect(await stores.other.getScheduleRun(newId())).toBeNull();
  });

  test('lists the runs of a schedule, newest first', async () => {
    const schedule = await storeSchedule();
    const runs = [];
    for (const at of [2, 3, 1]) {
      runs.push(aRun(schedule, { createdAt: aTime + at, jobId: at === 1 ? null : newId() }));
      await stores.store.putScheduleRun(runs.at(-1)!);
    }
    await stores.store.putScheduleRun(aRun(aSchedule()));
    const listed = await allPages(2, (page) => stores.other.listScheduleRuns(schedule.id, page));
    expect(listed).toEqual([runs[1], runs[0], runs[2]]);
  });

  test('deletes a schedule and its runs', async () => {
    const [schedule, other] = [await storeSchedule(), await storeSchedule()];
    const [run, kept] = [aRun(schedule), aRun(other)];
    for (const each of [run, kept]) await stores.store.putScheduleRun(each);
    expect(await stores.store.deleteSchedule(schedule.id)).toBe(true);
    expect(await stores.other.deleteSchedule(schedule.id)).toBe(false);
    expect(await stores.other.getSchedule(schedule.id)).toBeNull();
    expect(await stores.other.getScheduleRun(run.id)).toBeNull();
    expect(await stores.other.getScheduleRun(kept.id)).toEqual(kept);
    expect(await stores.other.getSchedule(other.id)).toEqual(other);
  });

  test('erases the schedules and runs of a user', async () => {
    const [schedule, other] = [await storeSchedule(), await storeSchedule()];
    const [run, kept] = [aRun(schedule), aRun(other)];
    for (const each of [run, kept]) await stores.store.putScheduleRun(each);
    while ((await stores.store.eraseUserRecords(schedule.userId, 1)) > 0);
    expect(await stores.other.getSchedule(schedule.id)).toBeNull();
    expect(await stores.other.getScheduleRun(run.id)).toBeNull();
    expect(await stores.other.getSchedule(other.id)).toEqual(other);
    expect(await stores.other.getScheduleRun(kept.id)).toEqual(kept);
  });

  test('expires runs by their start', async () => {
    const schedule = await storeSchedule();
    const [old, young] = [aRun(schedule, { createdAt: 5 }), aRun(schedule, { createdAt: 6 })];
    for (const each of [old, young]) await stores.store.putScheduleRun(each);
    expect(await stores.store.expire({ scheduleRuns: 6 })).toBe(1);
    expect(await stores.other.getScheduleRun(old.id)).toBeNull();
    expect(await stores.other.getScheduleRun(young.id)).toEqual(young);
  });
}
