import { expect, test } from 'vitest';
import { newId } from '../../base/id.ts';
import {
  advanceScheduleNotice,
  deleteSchedule,
  type Schedule,
  type ScheduleRun,
  writeSchedule,
} from '../schedules.ts';
import { aTime } from './samples.ts';
import { type OpenStores, runConcurrently, setUpStores } from './stores.ts';

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
    await stores.store.schedules.insert({ ...schedule, request });
    return schedule;
  };

  test('changes a schedule only from the revision that was read, with its request', async () => {
    const schedule = await storeSchedule();
    const patch = {
      openRuns: [{ runId: newId(), jobId: newId(), cost: 8 }],
      dueAt: null,
      options: {},
    };
    const changed = { ...schedule, ...patch, revision: 2 };
    expect(await writeSchedule(stores.store, schedule, patch)).toEqual(changed);
    expect(await writeSchedule(stores.other, schedule, { name: 'late' })).toBeNull();
    expect(await stores.other.schedules.get(schedule.id)).toEqual(changed);
    const readRequest = () =>
      stores.other.schedules.pick({ id: schedule.id }, ['request', 'revision']);
    expect(await readRequest()).toEqual({ request, revision: 2 });
    await writeSchedule(stores.other, changed, { request: '{}', pending: null });
    expect(await readRequest()).toEqual({ request: '{}', revision: 3 });
    expect(await writeSchedule(stores.store, aSchedule(), patch)).toBeNull();
  });

  test('replaces each message once', async () => {
    const { store, other } = stores;
    const noticeAt = aTime - 9_000_000;
    const second = await storeSchedule({ state: 'rejected', notice: 'rejected', noticeAt });
    expect(await advanceScheduleNotice(store, { ...second, stateSince: aTime - 1 }, null)).toBe(
      false,
    );
    expect(await advanceScheduleNotice(store, { ...second, notice: 'paused' }, null)).toBe(false);
    expect(await advanceScheduleNotice(store, { ...second, notice: null }, null)).toBe(false);
    const next = { reason: 'paused', at: noticeAt + 5 } as const;
    const moves = await runConcurrently(4, stores, (each) =>
      advanceScheduleNotice(each, second, next),
    );
    expect(moves.filter(Boolean)).toHaveLength(1);
    const later = { ...second, notice: next.reason, noticeAt: next.at };
    expect(await other.schedules.get(second.id)).toEqual(later);
    expect(await advanceScheduleNotice(other, later, null)).toBe(true);
    expect(await store.schedules.get(second.id)).toEqual({
      ...second,
      notice: null,
      noticeAt: null,
    });
  });

  test('deletes a schedule and its runs', async () => {
    const [schedule, other] = [await storeSchedule(), await storeSchedule()];
    const [run, kept] = [aRun(schedule), aRun(other)];
    await stores.store.scheduleRuns.upsert([run, kept]);
    expect(await deleteSchedule(stores.store, schedule.id)).toBe(true);
    expect(await deleteSchedule(stores.other, schedule.id)).toBe(false);
    expect(await stores.other.schedules.get(schedule.id)).toBeNull();
    expect(await stores.other.scheduleRuns.get(run.id)).toBeNull();
    expect(await stores.other.scheduleRuns.get(kept.id)).toEqual(kept);
    expect(await stores.other.schedules.get(other.id)).toEqual(other);
  });
}
