import { expect, test } from 'vitest';
import { newId } from '../../base/id.ts';
import type { Job } from '../documents.ts';
import { aTime, storeJob } from './samples.ts';
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
      decideBy: 5,
      startedAt: 6,
      finishedAt: 7,
      counts,
    });
    const expected: Job = {
      ...job,
      state: 'settling',
      stateSince: aTime + 9,
      file,
      refunded: 10,
      reason: 'a.$b',
      decidedBy: 'op',
      decideBy: 5,
      startedAt: 6,
      finishedAt: 7,
      counts,
    };
    expect(moved).toEqual(expected);
    expect(await stores.other.jobs.get(job.id)).toEqual(expected);
    const again = await stores.store.jobs.move(job.id, ['settling'], 'settling', aTime + 10, { file: null });
    expect(again).toEqual({ ...expected, stateSince: aTime + 10, file: null });
  });

  test('a transition from another state changes nothing', async () => {
    const job = await keep({ state: 'processing' });
    expect(
      await stores.store.jobs.move(job.id, ['submitted'], 'failed', aTime + 1, { reason: 'x' }),
    ).toBeNull();
    expect(await stores.store.jobs.move(job.id, [], 'failed', aTime + 1)).toBeNull();
    expect(await stores.store.jobs.get(job.id)).toEqual(job);
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

  test('jobs in a state since before a time are found, oldest first', async () => {
    const since = (stateSince: number, state: Job['state']) => keep({ state, stateSince });
    const late = await since(30, 'approving');
    const early = await since(10, 'settling');
    const between = await since(20, 'approving');
    await since(15, 'completed');
    const found = await stores.store.jobs.find(['approving', 'settling'], 31, 10);
    expect(found).toEqual([early, between, late]);
    expect(await stores.store.jobs.find(['approving', 'settling'], 30, 10)).toEqual([early, between]);
    expect(await stores.store.jobs.find(['approving', 'settling'], 31, 1)).toEqual([early]);
    expect(await stores.store.jobs.find(['approving'], 31, 0)).toEqual([]);
    const rest = await stores.store.jobs.find(['approving', 'settling'], 31, 10, {
      at: early.stateSince,
      id: early.id,
    });
    expect(rest).toEqual(found.slice(1));
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

  test('jobs whose approval deadline passed are found, oldest first', async () => {
    const second = await keep({ state: 'awaiting_approval', decideBy: 200 });
    const first = await keep({ state: 'awaiting_approval', decideBy: 100 });
    await keep({ state: 'processing', decideBy: 50 });
    await keep({ state: 'awaiting_approval', decideBy: 201 });
    await keep({ state: 'awaiting_approval', decideBy: null });
    expect(await stores.store.jobs.findExpiredApprovals(200, 10)).toEqual([first, second]);
    expect(await stores.store.jobs.findExpiredApprovals(200, 1)).toEqual([first]);
    expect(await stores.store.jobs.findExpiredApprovals(99, 10)).toEqual([]);
  });
}
