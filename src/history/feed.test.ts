import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type JobFixture, openJobFixture } from '../../test/support/jobs/jobs.ts';
import { openTracking, type Tracking } from '../../test/support/jobs/tracking.ts';
import { aChange, aRun } from '../store/conformance/history-samples.ts';
import { idsOfJob } from '../store/history.ts';
import { type FeedSelection, readFeed } from './feed.ts';

const [lamp, chair] = ['30000000001', '30000000002'] as const;
const dayMs = 24 * 3_600_000;

let fixture: JobFixture;
let tracking: Tracking;
let userId: string;
beforeEach(async () => {
  fixture = await openJobFixture();
  await fixture.startWorker();
  tracking = openTracking(fixture);
  userId = await fixture.createUser(100_000);
});
afterEach(() => fixture.close());

const read = (after: string, selection: Partial<FeedSelection> = {}) =>
  readFeed(fixture.context, userId, {
    after,
    limit: 100,
    type: null,
    market: '',
    series: '',
    ...selection,
  });
const labelsOf = ({ changes }: Awaited<ReturnType<typeof read>>) =>
  changes.map(({ type, key }) => `${type} ${key}`).sort();

describe('the feed of a user', () => {
  test('continues after a cursor with the changes of the jobs that were compared since', async () => {
    const empty = await read('');
    expect(empty).toMatchObject({ changes: [], hasMore: false });
    await tracking.run(userId, [lamp, chair]);
    const first = await read(empty.nextCursor);
    expect(labelsOf(first)).toEqual([`new ${lamp}`, `new ${chair}`]);
    expect(first.hasMore).toBe(false);
    await tracking.run(userId, [lamp, chair]);
    const unchanged = await read(first.nextCursor);
    expect(unchanged).toMatchObject({ changes: [], hasMore: false });
    tracking.changeItem(lamp, { priceFactor: 0.5 });
    const third = await tracking.run(userId, [lamp, chair]);
    for (const { nextCursor } of [first, unchanged]) {
      const { changes } = await read(nextCursor);
      expect(changes).toMatchObject([{ type: 'changed', key: lamp, jobId: third.jobId }]);
    }
    expect(labelsOf(await read(''))).toHaveLength(3);
  });

  test('has the same changes in parts of any size, after the cursor of each', async () => {
    for (const price of [1, 0.5, 0.25]) {
      for (const key of [lamp, chair]) tracking.changeItem(key, { priceFactor: price });
      await tracking.run(userId, [lamp, chair]);
    }
    const { changes } = await read('');
    expect(changes).toHaveLength(6);
    for (const limit of [1, 2, 4, 5]) {
      let after = '';
      for (let position = 0; position < changes.length; position += limit) {
        const part = await read(after, { limit });
        expect(part.changes).toEqual(changes.slice(position, position + limit));
        expect(part.hasMore).toBe(position + limit < changes.length);
        after = part.nextCursor;
      }
      expect(await read(after)).toMatchObject({ changes: [], hasMore: false });
    }
    for (const [index, { cursor }] of changes.entries())
      expect((await read(cursor)).changes).toEqual(changes.slice(index + 1));
  });

  test('can be limited to a type, a marketplace, and a series', async () => {
    await tracking.run(userId, [lamp, chair], 'daily');
    await tracking.run(userId, [lamp], 'weekly');
    tracking.changeItem(chair, { isRemoved: true });
    await tracking.run(userId, [lamp, chair], 'daily');
    expect(labelsOf(await read('', { type: 'missing' }))).toEqual([`missing ${chair}`]);
    expect(labelsOf(await read('', { series: 'weekly' }))).toEqual([`new ${lamp}`]);
    expect(labelsOf(await read('', { market: 'mkta' }))).toHaveLength(4);
    expect(labelsOf(await read('', { market: 'mktb' }))).toEqual([]);
  });

  test('keeps its place when jobs are deleted, and has no changes of other users', async () => {
    const { store } = fixture.context;
    await tracking.run(userId, [lamp]);
    const deleted = await tracking.run(userId, [chair]);
    const { nextCursor } = await read('');
    await store.itemChanges.remove(idsOfJob(deleted.jobId));
    await store.trackingRuns.remove({ jobId: deleted.jobId });
    await tracking.run(await fixture.createUser(1_000), [lamp]);
    expect((await read(nextCursor)).changes).toEqual([]);
    tracking.changeItem(lamp, { priceFactor: 0.5 });
    await tracking.run(userId, [lamp]);
    expect(labelsOf(await read(nextCursor))).toEqual([`changed ${lamp}`]);
  });

  test('does not list changes before a cursor if the clock is set back', async () => {
    await tracking.run(userId, [lamp]);
    const { nextCursor } = await read('');
    fixture.clock.step(-dayMs);
    const { jobId } = await tracking.run(userId, [chair]);
    expect((await read(nextCursor)).changes).toMatchObject([{ jobId }]);
  });

  test('continues in the next call after many runs without a change', async () => {
    const { store } = fixture.context;
    const runs = Array.from({ length: 1_001 }, (_, at) =>
      aRun({ userId, stage: 'done', queueState: null, dueAt: null, doneAt: at + 1 }),
    );
    const last = runs.at(-1)!;
    await store.trackingRuns.writeAll(runs.map((run) => ({ ...run, activeUser: null })));
    await store.itemChanges.writeAll([aChange(last.jobId, 0, { userId })]);
    const first = await read('');
    expect(first).toMatchObject({ changes: [], hasMore: true });
    fixture.context.settings.retention.historyMs = null;
    expect((await read(first.nextCursor)).changes).toMatchObject([{ jobId: last.jobId }]);
  });
});

describe('a cursor', () => {
  test('is refused once changes that follow it may have been deleted', async () => {
    const { context, clock } = fixture;
    const retention = { ...context.settings.retention, historyMs: 7 * dayMs };
    const settings = { ...context.settings, retention };
    const selection = { limit: 1, type: null, market: '', series: '' };
    const readAfter = (after: string) =>
      readFeed({ ...context, settings }, userId, { ...selection, after });
    await tracking.run(userId, [lamp]);
    const { nextCursor } = await readAfter('');
    await clock.advance(6 * dayMs);
    expect(await readAfter(nextCursor)).toMatchObject({ changes: [], nextCursor });
    await clock.advance(dayMs + 1);
    await expect(readAfter(nextCursor)).rejects.toMatchObject({ code: 'results_deleted' });
  });

  test.each(['x', '-1', '1', '1-', '1-ä', '1-a b'])('%s is invalid', async (after) => {
    await expect(read(after)).rejects.toMatchObject({ code: 'invalid' });
  });
});
