import { expect, test } from 'vitest';
import { newId } from '../../base/id.ts';
import type { Job } from '../documents.ts';
import { advanceJobNotice, decideHold } from '../jobs.ts';
import { aTime, storeJob } from './samples.ts';
import { type OpenStores, runConcurrently, setUpStores } from './stores.ts';

/** Notices about jobs, and holds of their deliveries. */
export function noticeConformance(open: OpenStores): void {
  dueConformance(open);
  holdConformance(open);
}

function dueConformance(open: OpenStores): void {
  const stores = setUpStores(open);
  const keep = async (fields: Partial<Job>) => (await storeJob(stores.store, 1, fields)).job;

  test('a sent notice is replaced by the next, unless the job changed its state meanwhile', async () => {
    const fields = {
      state: 'awaiting_approval',
      noticeDue: 'awaiting_approval',
      noticeAt: aTime,
    } as const;
    const job = await keep(fields);
    const next = { reason: 'approval_expiring', at: aTime + 900 } as const;
    expect(await advanceJobNotice(stores.store, job.id, 'awaiting_approval', next)).toBe(true);
    expect(await stores.other.jobs.get(job.id)).toMatchObject({
      noticeDue: 'approval_expiring',
      noticeAt: aTime + 900,
    });
    expect(await advanceJobNotice(stores.other, job.id, 'awaiting_approval', null)).toBe(false);
    await stores.store.jobs.move(job.id, ['awaiting_approval'], 'rejected', aTime + 5, {
      noticeDue: 'rejected',
      noticeAt: aTime + 5,
    });
    expect(await advanceJobNotice(stores.other, job.id, 'approval_expiring', null)).toBe(false);
    expect(await stores.store.jobs.find({ noticeAt: { atMost: aTime + 5 } })).toMatchObject([
      { id: job.id },
    ]);
    expect(await advanceJobNotice(stores.store, job.id, 'rejected', null)).toBe(true);
    expect(await stores.store.jobs.get(job.id)).toMatchObject({ noticeDue: null, noticeAt: null });
    expect(await advanceJobNotice(stores.store, newId(), 'rejected', null)).toBe(false);
  });
}

function holdConformance(open: OpenStores): void {
  const stores = setUpStores(open);
  const reasons = [{ field: 'price.amount', minimum: 95.5, percent: 12.25 }];
  const held = { state: 'held', reasons, heldAt: aTime, decidedAt: null } as const;

  test('stores one of concurrent decisions on a held job, and a release makes a notice due', async () => {
    const { job } = await storeJob(stores.store, 1, { state: 'settling' });
    expect(await decideHold(stores.store, job.id, 'released', aTime)).toBeNull();
    const end = { hold: held, noticeDue: 'completed', noticeAt: aTime } as const;
    const moved = await stores.store.jobs.move(job.id, ['settling'], 'completed', aTime, end);
    expect(moved).toMatchObject(end);
    const decided = await runConcurrently(10, stores, (store) =>
      decideHold(store, job.id, 'released', aTime + 9),
    );
    expect(decided.filter((each) => each !== null)).toEqual([
      {
        ...moved,
        hold: { ...held, state: 'released', decidedAt: aTime + 9 },
        noticeDue: 'released',
        noticeAt: aTime + 9,
      },
    ]);
    expect(await advanceJobNotice(stores.other, job.id, 'completed', null)).toBe(false);
    expect(await decideHold(stores.other, job.id, 'discarded', aTime + 10)).toBeNull();
  });

  test('a discarded hold makes no notice due', async () => {
    const { job } = await storeJob(stores.store, 1, {
      state: 'completed',
      finishedAt: aTime,
      hold: held,
    });
    const discarded = await decideHold(stores.other, job.id, 'discarded', aTime + 9);
    expect(discarded).toEqual({
      ...job,
      hold: { ...held, state: 'discarded', decidedAt: aTime + 9 },
    });
    expect(await stores.store.jobs.get(job.id)).toEqual(discarded);
  });
}
