import { beforeEach, expect, test } from 'vitest';
import { newId } from '../../base/id.ts';
import type { Where } from '../collection.ts';
import type { Job } from '../documents.ts';
import { canMove, interruptedMs, jobStateNames } from '../job-states.ts';
import { findJobByNumber, rejectInvalidTransitions } from '../jobs.ts';
import { aBatch, aJob, aTime, storeJob } from './samples.ts';
import { allPages, type OpenStores, runConcurrently, setUpStores } from './stores.ts';

/** Lists and transitions of jobs. */
export function jobConformance(open: OpenStores): void {
  const stores = setUpStores(open);
  const keep = async (fields: Partial<Job>) => (await storeJob(stores.store, 1, fields)).job;

  test('an unknown job is null', async () => {
    expect(await stores.store.jobs.get(newId())).toBeNull();
    expect(await findJobByNumber(stores.store, 99_999_999)).toBeNull();
    expect(await stores.store.jobs.move(newId(), ['submitted'], 'failed', aTime)).toBeNull();
  });

  test('jobs are listed by states, owners, and a text in their name', async () => {
    const userId = newId();
    const all: Job[] = [];
    for (const [turn, name] of ['Nightly ÜBERSICHT', 'nightly prices', undefined].entries()) {
      const state = turn < 2 ? 'processing' : 'failed';
      const options = name === undefined ? {} : { name };
      all.push(await keep({ userId, createdAt: aTime + turn, state, options }));
    }
    const [first, second, third] = all;
    const list = (where: Where<Job>, text?: string) =>
      allPages(1, (page) =>
        stores.store.jobs.list(
          where,
          page,
          text === undefined ? text : { fields: ['options.name'], text },
        ),
      );
    expect(await list({ userId })).toEqual([third, second, first]);
    expect(await list({ userId, state: { in: ['processing', 'settling'] } })).toEqual([
      second,
      first,
    ]);
    expect(await list({ userId, state: { in: [] } })).toEqual([]);
    expect(await list({ userId: { in: [newId(), userId] } })).toEqual([third, second, first]);
    expect(await list({ userId: { in: [newId()], is: userId } })).toEqual([]);
    expect(await list({ userId }, 'NIGHTLY')).toEqual([second, first]);
    expect(await list({ userId }, 'übersicht')).toEqual([first]);
  });

  test('a transition writes state, time, and patch', async () => {
    const job = await keep({ state: 'processing' });
    const file = { path: 'x/y', contentType: 'application/json', items: 3, bytes: 4, sha256: 'aa' };
    const counts = {
      units: { total: 4, success: 3, failed: 1 },
      batches: { total: 2, success: 2, failed: 0 },
    };
    const moved = await stores.store.jobs.move(
      job.id,
      ['approved', 'processing'],
      'settling',
      aTime + 9,
      {
        file,
        refunded: 10,
        reason: 'a.$b',
        decidedBy: 'op',
        startedAt: 6,
        finishedAt: 7,
        counts,
      },
    );
    const expected: Job = {
      ...job,
      state: 'settling',
      stateSince: aTime + 9,
      dueAt: aTime + 9 + interruptedMs,
      file,
      refunded: 10,
      reason: 'a.$b',
      decidedBy: 'op',
      startedAt: 6,
      finishedAt: 7,
      counts,
    };
    expect(moved).toEqual(expected);
    expect(await stores.other.jobs.get(job.id)).toEqual(expected);
    const again = await stores.store.jobs.move(job.id, ['settling'], 'settling', aTime + 10, {
      file: null,
    });
    expect(again).toEqual({
      ...expected,
      stateSince: aTime + 10,
      dueAt: aTime + 10 + interruptedMs,
      file: null,
    });
  });

  test('a transition from another state changes nothing', async () => {
    const job = await keep({ state: 'processing' });
    expect(
      await stores.store.jobs.move(job.id, ['submitted'], 'failed', aTime + 1, { reason: 'x' }),
    ).toBeNull();
    expect(await stores.store.jobs.move(job.id, [], 'failed', aTime + 1)).toBeNull();
    expect(await stores.store.jobs.get(job.id)).toEqual(job);
  });

  test('a job moves only along its life, or stays in its state', async () => {
    const store = rejectInvalidTransitions(stores.store);
    for (const from of jobStateNames) {
      const { job } = await storeJob(store, 0, { state: from });
      for (const to of jobStateNames) {
        if (canMove(from, to)) continue;
        const moving = store.jobs.move(job.id, [from], to, aTime + 1);
        await expect(moving).rejects.toThrow(`a job cannot move from ${from} to ${to}`);
      }
      await expect(
        store.jobs.move(job.id, [from, 'failed'], 'settling', aTime + 1),
      ).rejects.toThrow();
      expect(await stores.other.jobs.get(job.id)).toEqual(job);
      const next = jobStateNames.find((to) => to !== from && canMove(from, to)) ?? from;
      expect(await store.jobs.move(job.id, [from], next, aTime + 1)).toMatchObject({ state: next });
    }
  });

  test('accepts one of concurrent transitions of a job', async () => {
    const job = await keep({ state: 'awaiting_approval' });
    const moves = await runConcurrently(30, stores, (store, turn) =>
      store.jobs.move(
        job.id,
        ['awaiting_approval'],
        turn % 2 ? 'approving' : 'rejected',
        aTime + turn,
      ),
    );
    const won = moves.filter((moved) => moved !== null);
    expect(won).toHaveLength(1);
    expect(await stores.store.jobs.get(job.id)).toEqual(won[0]);
  });
}

/** Jobs that are due. */
export function dueJobConformance(open: OpenStores): void {
  const stores = setUpStores(open);
  const keep = async (fields: Partial<Job>) => (await storeJob(stores.store, 1, fields)).job;
  const claim = async (now: number) =>
    (await stores.other.jobs.claimDue(now, now + 4_000, 10)).map(({ id }) => id);
  /** Claims what other tests left. */
  beforeEach(async () => {
    while ((await stores.store.jobs.claimDue(aTime * 2, aTime * 3, 100)).length > 0);
  });

  test('a job is due as its state says', async () => {
    const decideBy = aTime + 200_000;
    for (const [state, firstMs] of [
      ['submitted', 30_000],
      ['discarding', 30_000],
      ['awaiting_approval', 200_000],
      ['approving', 30_000],
      ['approved', 0],
      ['processing', 0],
      ['settling', 30_000],
      ['rejecting', 30_000],
      ['terminating', 30_000],
    ] as const) {
      const job = await keep({ state: 'submitted', decideBy });
      const moved = await stores.store.jobs.move(job.id, ['submitted'], state, aTime);
      expect(moved, state).toMatchObject({ state, dueAt: aTime + firstMs });
      expect(await stores.other.jobs.get(job.id), state).toEqual(moved);
      expect(await claim(aTime + firstMs - 1), state).toEqual([]);
      expect(await claim(aTime + firstMs), state).toEqual([job.id]);
      await stores.store.jobs.move(job.id, [state], 'failed', aTime);
    }
  });

  test('a job that waits for nothing is not due', async () => {
    for (const state of [
      'completed',
      'partial_complete',
      'failed',
      'rejected',
      'terminated',
    ] as const) {
      const { id } = await keep({ state: 'settling', decideBy: aTime - 1 });
      expect(await stores.store.jobs.move(id, ['settling'], state, aTime)).toMatchObject({
        dueAt: null,
      });
    }
    const { id } = await keep({ state: 'approving', decideBy: null });
    const waiting = await stores.store.jobs.move(id, ['approving'], 'awaiting_approval', aTime);
    expect(waiting).toMatchObject({ dueAt: null });
    expect(await claim(Number.MAX_SAFE_INTEGER)).toEqual([]);
  });

  test('a claimed job that moves is due as its new state says', async () => {
    const job = await keep({ state: 'processing' });
    expect(await claim(aTime)).toEqual([job.id]);
    const moved = await stores.store.jobs.move(job.id, ['processing'], 'settling', aTime + 1);
    expect(moved?.dueAt).toBe(aTime + 1 + interruptedMs);
  });

  test('a job is not due while it is written or removed', async () => {
    const job = aJob({ state: 'approved' });
    function* batches() {
      yield aBatch(job, 0);
      throw new Error('the process is gone');
    }
    await expect(stores.store.jobs.create(job, batches())).rejects.toThrow('gone');
    expect(await claim(aTime)).toEqual([]);
    const discarded = await keep({ state: 'discarding', stateSince: 1 });
    await stores.store.jobs.delete(discarded.id, null);
    expect(await claim(aTime)).toEqual([]);
  });
}
