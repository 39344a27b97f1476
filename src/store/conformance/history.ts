import { expect, test } from 'vitest';
import { newId } from '../../base/id.ts';
import {
  addObservations,
  countChanges,
  findItemUnits,
  type ItemUnit,
  listChanges,
  listObservations,
  listTrackedItems,
  type TrackingRun,
} from '../history.ts';
import {
  beginRun,
  findDoneRuns,
  isLate,
  nextDoneAt,
  skipRun,
  waitOf,
  writeProgress,
} from '../tracking-run.ts';
import { aChange, anItem, anItemKey, anObservation, aRun, someValues } from './history-samples.ts';
import { aDeletedJob, aJob, aTime } from './samples.ts';
import { allPages, type OpenStores, runConcurrently, setUpStores } from './stores.ts';

/** Histories of items: runs, items, observations, and changes. */
export function historyConformance(open: OpenStores): void {
  runConformance(open);
  itemConformance(open);
}

/** Progress of a run that is done. */
const done = { dueAt: null, queueState: null, stage: 'done', doneAt: aTime } as const;

function runConformance(open: OpenStores): void {
  const stores = setUpStores(open);
  const create = async (fields: Partial<TrackingRun> = {}) => {
    const run = aRun(fields);
    await stores.store.trackingRuns.insert({ ...run, activeUser: null });
    return run;
  };

  test('progress is written by the holder of the claim, until the run is done', async () => {
    const { store } = stores;
    const { jobId } = await create({ dueAt: aTime - 5 });
    const [claimed] = await store.trackingRuns.claimDue(aTime - 5, aTime, 1);
    const next = {
      ...claimed!,
      dueAt: aTime + 50_000,
      queueState: 'active' as const,
      stage: 'missing' as const,
      nextBatch: 7,
      counts: { new: 1, changed: 2, missing: 3, back: 4, unchanged: 5 },
      messages: 6,
    };
    expect(await writeProgress(store, { ...next, revision: 0 })).toBe(false);
    expect(await writeProgress(store, next)).toBe(true);
    expect(await store.trackingRuns.get(jobId)).toEqual(next);
    expect(await writeProgress(store, { ...next, ...done })).toBe(true);
    expect(await writeProgress(store, next)).toBe(false);
    expect(await store.trackingRuns.claimDue(aTime + 1e9, aTime + 2e9, 100)).toEqual([]);
  });

  const queueStates = ['waiting', 'active', 'failed', 'behind'] as const;
  const places = ['own series', 'other series', 'no series'] as const;
  const seriesOf = { 'own series': 'daily', 'other series': 'weekly', 'no series': '' };
  const waits = queueStates.flatMap((queueState) =>
    places.map((place) => {
      const isStopped = queueState === 'failed' || queueState === 'behind';
      if (!isStopped) return [queueState, place, 'earlier_run'] as const;
      return [queueState, place, place === 'own series' ? 'failed_run' : null] as const;
    }),
  );

  test.each(waits)(
    'after a run that is %s, a run of %s waits for: %s',
    async (queueState, place, wait) => {
      const { store } = stores;
      const first = await create({ at: aTime, dueAt: aTime + 1e12, queueState });
      const { userId, jobId } = first;
      const series = seriesOf[place];
      const waitOfRun = (fields: Partial<TrackingRun>) =>
        waitOf(store, aRun({ userId, at: aTime + 1, series, ...fields }));
      expect(await waitOfRun({})).toBe(wait);
      expect(await waitOfRun({ at: aTime, jobId: `${jobId}0` })).toBe(wait);
      expect(await waitOfRun({ at: aTime, jobId: '0' })).toBeNull();
      expect(await waitOfRun({ at: aTime - 1 })).toBeNull();
      expect(await waitOfRun({ userId: newId() })).toBeNull();
      expect(await waitOf(store, first)).toBeNull();
      await writeProgress(store, { ...first, ...done });
      expect(await waitOfRun({})).toBeNull();
    },
  );

  test('a run is late once a run of its series whose job ended later was compared', async () => {
    const { store } = stores;
    const later = await create({ at: aTime + 1 });
    const { userId } = later;
    const isRunLate = (fields: Partial<TrackingRun>) => isLate(store, aRun({ userId, ...fields }));
    expect(await isRunLate({})).toBe(false);
    await writeProgress(store, { ...later, ...done });
    expect(await isRunLate({})).toBe(true);
    expect(await isRunLate({ at: aTime + 1, jobId: '0' })).toBe(true);
    expect(await isRunLate({ at: aTime + 2 })).toBe(false);
    expect(await isLate(store, later)).toBe(false);
    expect(await isRunLate({ series: 'weekly' })).toBe(false);
    expect(await isRunLate({ userId: newId() })).toBe(false);
    const skipped = await create({ at: aTime + 1 });
    await writeProgress(store, { ...skipped, ...done, isSkipped: true });
    expect(await isRunLate({ userId: skipped.userId })).toBe(false);
    const withoutSeries = await create({ at: aTime + 1, series: '' });
    await writeProgress(store, { ...withoutSeries, ...done });
    expect(await isRunLate({ userId: withoutSeries.userId, series: '' })).toBe(false);
  });

  test('one run of a user is active until it is done or has failed', async () => {
    const { store } = stores;
    const userId = newId();
    const runs: TrackingRun[] = [];
    for (let at = 0; at < 4; at++)
      runs.push(await create({ userId, at: aTime + at, dueAt: aTime + 1e12 }));
    await create();
    const begin = async () => {
      const left = runs.slice();
      const begun = await runConcurrently(4, stores, (each) => beginRun(each, left.pop()!));
      expect(begun.filter(Boolean)).toHaveLength(1);
      const read = await Promise.all(runs.map(({ jobId }) => store.trackingRuns.get(jobId)));
      return read.find((run) => run!.queueState === 'active')!;
    };
    const first = await begin();
    expect(await beginRun(store, first)).toBe(true);
    expect(await beginRun(store, { ...first, revision: 1 })).toBe(false);
    await writeProgress(store, { ...first, queueState: 'failed' });
    const second = await begin();
    await writeProgress(store, { ...second, ...done });
    expect(await beginRun(store, second)).toBe(false);
    await begin();
  });

  test('runs that are done are found in the order of their ends, which never go back', async () => {
    const { store } = stores;
    const userId = newId();
    expect(await nextDoneAt(store, userId, aTime)).toBe(aTime);
    for (const [index, series] of ['b', 'a', 'b'].entries()) {
      const run = await create({ userId, series, at: aTime - index });
      await writeProgress(store, { ...run, ...done, doneAt: aTime + index });
    }
    await create({ userId });
    await writeProgress(store, { ...(await create()), ...done });
    const find = async (at: number, series = '', market = '') => {
      const scope = { userId, market, series };
      const [first] = await findDoneRuns(store, scope, { at, after: null }, 1);
      if (first === undefined) return [];
      const rest = await findDoneRuns(store, scope, { at, after: first }, 9);
      return [first, ...rest].map(({ doneAt }) => doneAt - aTime);
    };
    expect(await find(0)).toEqual([0, 1, 2]);
    expect(await find(aTime + 1)).toEqual([1, 2]);
    expect(await find(0, 'b')).toEqual([0, 2]);
    expect(await find(0, '', 'mktx')).toEqual([]);
    expect(await nextDoneAt(store, userId, aTime)).toBe(aTime + 3);
    expect(await nextDoneAt(store, userId, aTime + 9)).toBe(aTime + 9);
  });

  test('a run that has failed is made due to end, also while a process has a claim of it', async () => {
    const { store } = stores;
    const { jobId } = await create({ queueState: 'failed', failedAt: aTime, dueAt: aTime + 1e9 });
    const skipped = await skipRun(store, jobId, aTime);
    expect(skipped).toMatchObject({ isSkipped: true, queueState: 'waiting', dueAt: aTime });
    expect(skipped).toMatchObject({ stage: 'items', revision: 1 });
    expect(await skipRun(store, jobId, aTime)).toBeNull();
    expect(await skipRun(store, (await create()).jobId, aTime)).toBeNull();
  });

  test('the deletion of a job deletes its run and changes', async () => {
    const { store } = stores;
    const job = aJob({ state: 'completed', finishedAt: aTime });
    await store.jobs.create(job, []);
    await create({ jobId: job.id });
    await store.itemChanges.writeAll([aChange(job.id, 0)]);
    await store.jobs.delete(job.id, aDeletedJob(job));
    expect(await store.trackingRuns.get(job.id)).toBeNull();
    expect((await listChanges(store, job.id, null, { limit: 9 })).items).toEqual([]);
  });
}

function itemConformance(open: OpenStores): void {
  const stores = setUpStores(open);

  test('lists the items of a user and series by their latest change, and searches them', async () => {
    const { store } = stores;
    const userId = newId();
    const mine = Array.from({ length: 7 }, (_, at) =>
      anItem({
        userId,
        key: `key-${at}`,
        market: at < 3 ? 'mkta' : 'mktb',
        region: at % 2 ? 'id' : '',
        changedAt: aTime + Math.floor(at / 2),
        values: someValues({ title: at === 5 ? 'Ünique 100%' : 'Lamp' }),
      }),
    );
    const elsewhere = [anItem({ userId, series: 'daily' }), anItem()];
    await store.trackedItems.upsert([...mine, ...elsewhere]);
    const listed = await allPages(2, (page) => listTrackedItems(store, userId, '', {}, page));
    expect(listed.map(({ changedAt }) => changedAt)).toEqual(
      [3, 2, 2, 1, 1, 0, 0].map((at) => aTime + at),
    );
    const list = async (series: string, filter: Parameters<typeof listTrackedItems>[3]) =>
      (await listTrackedItems(store, userId, series, filter, { limit: 10 })).items
        .map(({ key }) => key)
        .sort();
    expect(await list('', { market: 'mkta' })).toEqual(['key-0', 'key-1', 'key-2']);
    expect(await list('', { market: 'mkta', region: 'id' })).toEqual(['key-1']);
    expect(await list('', { search: 'KEY-4' })).toEqual(['key-4']);
    expect(await list('', { search: 'ünique 100%' })).toEqual(['key-5']);
    expect(await list('daily', {})).toEqual([elsewhere[0]!.key]);
  });

  test('finds the links of units of a user, a page at a time', async () => {
    const { store } = stores;
    const userId = newId();
    const link = (unit: string, itemId: string, owner = userId) => ({
      userId: owner,
      unit,
      itemId,
    });
    const [one, two] = [newId(), newId()].sort() as [string, string];
    const links = [link(one, 'a'), link(one, 'b'), link(two, 'a')];
    await store.itemUnits.writeAll([...links].reverse());
    await store.itemUnits.writeAll([links[0]!, link(newId(), 'a'), link(one, 'c', newId())]);
    const find = (units: string[], limit = 10, after: ItemUnit | null = null) =>
      findItemUnits(store, userId, units, { after, limit });
    expect(await find([two, one])).toEqual(links);
    expect(await find([two])).toEqual([links[2]]);
    expect(await find([])).toEqual([]);
    const first = await find([one, two], 2);
    expect(first).toEqual(links.slice(0, 2));
    expect(await find([one, two], 2, first[1])).toEqual([links[2]]);
    await store.itemUnits.remove({ unit: one, itemId: { in: ['a', 'b'] } });
    expect(await find([one, two])).toEqual([links[2]]);
  });

  test('observations are written once, end the one before, and are listed by time', async () => {
    const { store } = stores;
    const item = anItemKey();
    const all = Array.from({ length: 5 }, (_, at) =>
      anObservation({ ...item, at: aTime + at * 10, values: someValues({ price: at + 0.5 }) }),
    );
    const added = all.map((observation, at) => ({ observation, previous: all[at - 1] ?? null }));
    await addObservations(store, added);
    await addObservations(store, [{ observation: { ...all[2]!, changed: [] }, previous: all[1]! }]);
    const expected = all
      .map((each, at) => ({ ...each, endedAt: all[at + 1]?.at ?? null }))
      .reverse();
    const far = Number.MAX_SAFE_INTEGER;
    expect(await allPages(2, (page) => listObservations(store, item, 0, far, page))).toEqual(
      expected,
    );
    const between = await listObservations(store, item, aTime + 10, aTime + 30, { limit: 10 });
    expect(between.items).toEqual(expected.slice(2, 4));
  });

  test('changes are listed in the order of batches, also by type, and counted', async () => {
    const { store } = stores;
    const jobId = newId();
    const changes = [
      aChange(jobId, 0, { type: 'new', before: {}, title: null }),
      aChange(jobId, 1),
      aChange(jobId, 2, { type: 'missing', before: {}, after: {} }),
      aChange(jobId, 10),
      aChange(jobId, 11, { type: 'back' }),
    ];
    await store.itemChanges.writeAll([...changes].reverse());
    await store.itemChanges.writeAll([{ ...changes[1]!, title: 'Other' }, aChange(newId(), 1)]);
    const list = (limit: number, type: 'changed' | null) =>
      allPages(limit, (page) => listChanges(store, jobId, type, page));
    expect(await list(2, null)).toEqual(changes);
    expect(await list(1, 'changed')).toEqual([changes[1], changes[3]]);
    expect(await countChanges(store, jobId)).toEqual({ new: 1, changed: 2, missing: 1, back: 1 });
    expect(await countChanges(store, newId())).toEqual({ new: 0, changed: 0, missing: 0, back: 0 });
    expect(await list(5, null)).toHaveLength(5);
  });
}
