import { beforeEach, expect, test } from 'vitest';
import { newId } from '../../base/id.ts';
import type { Job, JobState } from '../documents.ts';
import { canMove, interruptedMs, jobStateNames, refuseOtherMoves } from '../job-states.ts';
import { aBatch, aJob, aTime, storeJob } from './samples.ts';
import { allPages, type OpenStores, runConcurrently, setUpStores } from './stores.ts';

/** Lists and transitions of jobs. */
export function jobConformance(open: OpenStores): void {
  const stores = setUpStores(open);
  const keep = async (fields: Partial<Job>) => (await storeJob(stores.store, 1, fields)).job;

  test('an unknown job is null', async () => {
    expect(await stores.store.jobs.get(newId())).toBeNull();
    expect(await stores.store.jobs.getByNumber(99_999_999)).toBeNull();
    expect(await stores.store.jobs.move(newId(), ['submitted'], 'failed', aTime)).toBeNull();
  });

  test('jobs are listed newest first, across pages, by every filter', async () => {
    const userId = newId();
    const all: Job[] = [];
    await keep({ kind: 'odd', market: 'mktb' });
    for (let turn = 0; turn < 8; turn += 1) {
      all.push(
        await keep({
          id: `${turn}-${newId()}`,
          userId,
          createdAt: aTime + Math.floor(turn / 3),
          kind: turn % 2 ? 'odd' : 'even',
          market: turn < 4 ? 'mkta' : 'mktb',
          state: turn === 7 ? 'failed' : 'processing',
        }),
      );
    }
    const list = (filter: object, limit: number) =>
      allPages(limit, (page) => stores.store.jobs.list({ userId, ...filter }, page));
    const newestFirst = all.toReversed();
    expect(await list({}, 3)).toEqual(newestFirst);
    expect(await list({ kind: 'odd' }, 1)).toEqual(newestFirst.filter(({ kind }) => kind === 'odd'));
    expect(await list({ market: 'mktb', states: ['processing', 'settling'] }, 2)).toEqual([
      all[6],
      all[5],
      all[4],
    ]);
    expect(await list({ states: [] }, 2)).toEqual([]);
    expect(await list({ userIds: [newId(), userId] }, 3)).toEqual(newestFirst);
    expect(await list({ userIds: [newId()] }, 3)).toEqual([]);
    expect(await list({ userIds: [] }, 3)).toEqual([]);
    const everyone = await allPages(3, (page) => stores.store.jobs.list({}, page));
    expect(everyone).toEqual(expect.arrayContaining(all));
  });

  test('jobs are listed by a text that their name contains, in any case', async () => {
    const userId = newId();
    const names = ['Nightly ÜBERSICHT 100%', 'nightly prices', undefined];
    const all: Job[] = [];
    for (const [turn, name] of names.entries())
      all.push(await keep({ userId, createdAt: aTime + turn, options: name === undefined ? {} : { name } }));
    const list = (name: string) => allPages(1, (page) => stores.store.jobs.list({ userId, name }, page));
    expect(await list('NIGHTLY')).toEqual([all[1], all[0]]);
    expect(await list('übersicht 100%')).toEqual([all[0]]);
    for (const name of ['night.y', '%', '_', 'weekly'])
      expect(await list(name)).toEqual(name === '%' ? [all[0]] : []);
  });

  test('jobs are listed and counted by mode', async () => {
    const kind = `kind ${newId()}`;
    const live = await keep({ kind, state: 'processing' });
    const test = await keep({ kind, state: 'processing', mode: 'test', createdAt: aTime + 1 });
    const list = (filter: object) => allPages(1, (page) => stores.store.jobs.list({ kind, ...filter }, page));
    expect(await list({ mode: 'live' })).toEqual([live]);
    expect(await list({ mode: 'test' })).toEqual([test]);
    expect(await list({})).toEqual([test, live]);
    expect(await stores.other.jobs.get(test.id)).toEqual(test);
    const counted = await stores.store.jobs.countByState(['processing']);
    expect(counted.filter((row) => row.kind === kind)).toEqual([{ kind, state: 'processing', jobs: 1 }]);
  });

  test.each(['retryOf', 'rereadOf'] as const)('jobs that name another in %s are listed by it', async (of) => {
    const first = await keep({ state: 'failed' });
    const second = await keep({ [of]: first.id, createdAt: aTime + 1 });
    const third = await keep({ [of]: first.id, createdAt: aTime + 2 });
    await keep({ [of]: second.id });
    const list = (filter: object) => allPages(1, (page) => stores.store.jobs.list(filter, page));
    expect(await list({ [of]: first.id })).toEqual([third, second]);
    expect(await list({ [of]: third.id })).toEqual([]);
    expect(await stores.other.jobs.get(third.id)).toEqual(third);
  });

  test('a transition writes state, time, and patch', async () => {
    const job = await keep({ state: 'processing' });
    const file = { path: 'x/y', contentType: 'application/json', items: 3, bytes: 4, sha256: 'aa' };
    const counts = {
      units: { total: 4, success: 3, failed: 1 },
      batches: { total: 2, success: 2, failed: 0 },
    };
    const moved = await stores.store.jobs.move(job.id, ['approved', 'processing'], 'settling', aTime + 9, {
      file,
      refunded: 10,
      reason: 'a.$b',
      decidedBy: 'op',
      startedAt: 6,
      finishedAt: 7,
      counts,
    });
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
    const again = await stores.store.jobs.move(job.id, ['settling'], 'settling', aTime + 10, { file: null });
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
    const store = refuseOtherMoves(stores.store);
    for (const from of jobStateNames) {
      const { job } = await storeJob(store, 0, { state: from });
      for (const to of jobStateNames) {
        if (canMove(from, to)) continue;
        const moving = store.jobs.move(job.id, [from], to, aTime + 1);
        await expect(moving).rejects.toThrow(`a job cannot move from ${from} to ${to}`);
      }
      await expect(store.jobs.move(job.id, [from, 'failed'], 'settling', aTime + 1)).rejects.toThrow();
      expect(await stores.other.jobs.get(job.id)).toEqual(job);
      const next = jobStateNames.find((to) => to !== from && canMove(from, to)) ?? from;
      expect(await store.jobs.move(job.id, [from], next, aTime + 1)).toMatchObject({ state: next });
    }
  });

  test('accepts one of concurrent transitions of a job', async () => {
    const job = await keep({ state: 'awaiting_approval' });
    const moves = await runConcurrently(30, stores, (store, turn) =>
      store.jobs.move(job.id, ['awaiting_approval'], turn % 2 ? 'approving' : 'rejected', aTime + turn),
    );
    const won = moves.filter((moved) => moved !== null);
    expect(won).toHaveLength(1);
    expect(await stores.store.jobs.get(job.id)).toEqual(won[0]);
  });

  test('jobs in the given states are counted by kind and state', async () => {
    const kind = 'counted';
    await keep({ kind, state: 'processing' });
    await keep({ kind, state: 'processing' });
    await keep({ kind, state: 'approved' });
    await keep({ kind, state: 'completed' });
    const rows = await stores.store.jobs.countByState(['processing', 'approved', 'settling']);
    expect(rows.filter((row) => row.kind === kind)).toEqual([
      { kind, state: 'approved', jobs: 1 },
      { kind, state: 'processing', jobs: 2 },
    ]);
    expect(await stores.store.jobs.countByState([])).toEqual([]);
  });

  test('hasJobs() says whether a job is in one of the states', async () => {
    await keep({ state: 'discarding' });
    expect(await stores.store.jobs.has(['discarding', 'terminating'])).toBe(true);
    expect(await stores.store.jobs.has(['terminating'])).toBe(false);
    expect(await stores.store.jobs.has([])).toBe(false);
  });
}

/** Jobs that are due. */
export function dueJobConformance(open: OpenStores): void {
  const stores = setUpStores(open);
  const keep = async (fields: Partial<Job>) => (await storeJob(stores.store, 1, fields)).job;
  const claim = async (now: number, limit = 10, except: JobState[] = []) =>
    (await stores.other.jobs.claimDue(now, limit, except)).map(({ id }) => id);
  /** Claims what other tests left. */
  beforeEach(async () => {
    while ((await stores.store.jobs.claimDue(aTime * 2, 100)).length > 0);
  });

  test('a job is due as its state says, and a claim makes it due later', async () => {
    const decideBy = aTime + 200_000;
    for (const [state, firstMs, nextMs] of [
      ['submitted', 30_000, 30_000],
      ['discarding', 30_000, 30_000],
      ['awaiting_approval', 200_000, 30_000],
      ['approving', 30_000, 30_000],
      ['approved', 0, 4_000],
      ['processing', 0, 4_000],
      ['settling', 30_000, 30_000],
      ['rejecting', 30_000, 30_000],
      ['terminating', 30_000, 30_000],
    ] as const) {
      const job = await keep({ state: 'submitted', decideBy });
      const moved = await stores.store.jobs.move(job.id, ['submitted'], state, aTime);
      expect(moved, state).toMatchObject({ state, dueAt: aTime + firstMs });
      expect(await claim(aTime + firstMs - 1), state).toEqual([]);
      const [claimed] = await stores.store.jobs.claimDue(aTime + firstMs, 10);
      expect(claimed, state).toEqual({ ...moved, dueAt: aTime + firstMs + nextMs });
      expect(await stores.other.jobs.get(job.id), state).toEqual(claimed);
      expect(await claim(aTime + firstMs + nextMs - 1), state).toEqual([]);
      expect(await claim(aTime + firstMs + nextMs), state).toEqual([job.id]);
      await stores.store.jobs.move(job.id, [state], 'failed', aTime);
    }
  });

  test('a job that waits for nothing is in no list', async () => {
    const ended = ['completed', 'partial_complete', 'failed', 'rejected', 'terminated'] as const;
    for (let turn = 0; turn < 1_000; turn += 1) {
      const state = ended[turn % ended.length]!;
      if (turn < 900) await storeJob(stores.store, 0, { state, finishedAt: aTime, decideBy: aTime - 1 });
      else {
        const { id } = await keep({ state: 'settling', decideBy: aTime - 1 });
        expect(await stores.store.jobs.move(id, ['settling'], state, aTime)).toMatchObject({ dueAt: null });
      }
    }
    await keep({ state: 'awaiting_approval', decideBy: null });
    expect(await stores.store.jobs.claimDue(Number.MAX_SAFE_INTEGER, 10)).toEqual([]);
  }, 60_000);

  test('the longest due jobs are claimed first, without those in the excepted states', async () => {
    const late = await keep({ state: 'approved', stateSince: aTime + 2 });
    const early = await keep({ state: 'settling', stateSince: aTime - interruptedMs });
    const between = await keep({ state: 'processing', stateSince: aTime + 1 });
    expect(await claim(aTime + 2, 0)).toEqual([]);
    expect(await claim(aTime + 2, 1, ['settling'])).toEqual([between.id]);
    expect(await claim(aTime + 2)).toEqual([early.id, late.id]);
    expect(await claim(aTime + 2)).toEqual([]);
  });

  test('concurrent callers claim different jobs', async () => {
    const jobs: string[] = [];
    for (let turn = 0; turn < 30; turn += 1)
      jobs.push((await keep({ state: turn % 2 ? 'processing' : 'approving', stateSince: 1 })).id);
    const claims = await runConcurrently(12, stores, (store) => store.jobs.claimDue(aTime, 10));
    const ids = claims.flat().map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    while (ids.length < jobs.length) {
      const more = await claim(aTime);
      expect(more.length).toBeGreaterThan(0);
      ids.push(...more);
    }
    expect(ids.sort()).toEqual(jobs.sort());
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
    await stores.store.jobs.discard(discarded.id);
    expect(await claim(aTime)).toEqual([]);
  });
}
