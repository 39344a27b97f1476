import { describe, expect, test } from 'vitest';
import { newId } from '../../base/id.ts';
import type { DeletedJob } from '../documents.ts';
import type { TrackingRun } from '../history.ts';
import { aChange, anItem, anItemKey, anObservation, aRule, aRun, someValues } from './history-samples.ts';
import { aJob, aTime } from './samples.ts';
import { allPages, type OpenStores, runConcurrently, setUpStores } from './stores.ts';

/** Histories of items: runs, items, observations, changes, and rules. */
export function historyConformance(open: OpenStores): void {
  runConformance(open);
  itemConformance(open);
  observationConformance(open);
  changeConformance(open);
  ruleConformance(open);
  lifetimeConformance(open);
}

/** Progress of a run that is done. */
const done = { dueAt: null, turn: null, stage: 'done', doneAt: aTime } as const;

function runConformance(open: OpenStores): void {
  const stores = setUpStores(open);

  test('a run is created once per job', async () => {
    const run = aRun();
    const created = await runConcurrently(4, stores, (store) => store.createTrackingRun(run));
    expect(created.filter(Boolean)).toHaveLength(1);
    expect(await stores.other.getTrackingRun(run.jobId)).toEqual(run);
    expect(await stores.store.getTrackingRun(newId())).toBeNull();
    await stores.store.putRunProgress(run.jobId, 0, { ...run, ...done });
  });

  test('each due run is claimed by one caller, until its lease expires', async () => {
    const { store } = stores;
    const runs = Array.from({ length: 5 }, (_, at) => aRun({ dueAt: aTime + at, at: aTime + at }));
    for (const run of runs) await store.createTrackingRun(run);
    await store.createTrackingRun(aRun({ dueAt: aTime + 1_000 }));
    const now = aTime + 10;
    const claims = await runConcurrently(6, stores, (each) => each.claimTrackingRuns(now, now + 100, 2));
    // Callers that lost a run to another one may leave some to later calls.
    const claimed = [...claims.flat(), ...(await store.claimTrackingRuns(now, now + 100, 10))];
    expect(claimed.map(({ jobId }) => jobId).sort()).toEqual(runs.map(({ jobId }) => jobId).sort());
    expect(claimed.every(({ take, dueAt }) => take === 1 && dueAt === now + 100)).toBe(true);
    expect(await store.claimTrackingRuns(now, now + 100, 10)).toEqual([]);
    expect(await store.claimTrackingRuns(now, now + 100, 0)).toEqual([]);
    const again = await store.claimTrackingRuns(now + 100, now + 900, 10);
    expect(again.map(({ jobId, take }) => [jobId, take])).toEqual(runs.map(({ jobId }) => [jobId, 2]));
  });

  test('progress is written by the holder of the claim, until the run is done', async () => {
    const { store } = stores;
    const run = aRun({ dueAt: aTime - 5 });
    await store.createTrackingRun(run);
    const [claimed] = await store.claimTrackingRuns(aTime - 5, aTime, 1);
    const progress = {
      dueAt: aTime + 50_000,
      turn: 'active' as const,
      stage: 'missing' as const,
      nextBatch: 7,
      counts: { new: 1, changed: 2, missing: 3, back: 4, unchanged: 5 },
      messages: 6,
      doneAt: null,
    };
    expect(await store.putRunProgress(run.jobId, claimed!.take - 1, progress)).toBe(false);
    expect(await store.putRunProgress(run.jobId, claimed!.take, progress)).toBe(true);
    expect(await store.getTrackingRun(run.jobId)).toEqual({ ...claimed, ...progress });
    expect(await store.putRunProgress(run.jobId, claimed!.take, { ...progress, ...done })).toBe(true);
    expect(await store.putRunProgress(run.jobId, claimed!.take, progress)).toBe(false);
    expect(await store.claimTrackingRuns(aTime + 1e9, aTime + 2e9, 100)).not.toContainEqual(
      expect.objectContaining({ jobId: run.jobId }),
    );
  });

  test('hasEarlierRun() finds unfinished runs of the user whose jobs ended before', async () => {
    const { store } = stores;
    const first = aRun({ at: aTime, dueAt: aTime + 1e12 });
    await store.createTrackingRun(first);
    const { userId, jobId } = first;
    const isBehind = (fields: Partial<TrackingRun>) =>
      store.hasEarlierRun(aRun({ userId, at: aTime + 1, ...fields }));
    expect(await isBehind({})).toBe(true);
    expect(await isBehind({ series: '' })).toBe(true);
    expect(await isBehind({ at: aTime, jobId: `${jobId}0` })).toBe(true);
    expect(await isBehind({ at: aTime, jobId: '0' })).toBe(false);
    expect(await isBehind({ at: aTime - 1 })).toBe(false);
    expect(await store.hasEarlierRun(first)).toBe(false);
    expect(await isBehind({ userId: newId() })).toBe(false);
    await store.putRunProgress(jobId, 0, { ...first, turn: 'failed' });
    expect(await isBehind({})).toBe(true);
    expect(await isBehind({ series: 'weekly' })).toBe(false);
    expect(await isBehind({ series: '' })).toBe(false);
    await store.putRunProgress(jobId, 0, { ...first, ...done });
    expect(await isBehind({})).toBe(false);
  });

  test('one run of a user is active until it is done or has failed', async () => {
    const { store } = stores;
    const userId = newId();
    const runs = Array.from({ length: 4 }, (_, at) => aRun({ userId, at: aTime + at, dueAt: aTime + 1e12 }));
    for (const run of [...runs, aRun({ userId: newId() })]) await store.createTrackingRun(run);
    const begin = async () => {
      const left = runs.slice();
      const begun = await runConcurrently(4, stores, (each) => each.beginRun(left.pop()!));
      expect(begun.filter(Boolean)).toHaveLength(1);
      const read = await Promise.all(runs.map(({ jobId }) => store.getTrackingRun(jobId)));
      return read.find((run) => run!.turn === 'active')!;
    };
    const first = await begin();
    expect(await store.beginRun(first)).toBe(true);
    expect(await store.beginRun({ ...first, take: 1 })).toBe(false);
    await store.putRunProgress(first.jobId, 0, { ...first, turn: 'failed' });
    const second = await begin();
    await store.putRunProgress(second.jobId, 0, { ...second, ...done });
    expect(await store.beginRun(second)).toBe(false);
    await begin();
  });
}

function itemConformance(open: OpenStores): void {
  const stores = setUpStores(open);

  test('items are inserted, and replaced by later readings only', async () => {
    const { store, other } = stores;
    const item = anItem({ seenAt: aTime, seenJob: 'b' });
    const rest = Array.from({ length: 130 }, () => anItem());
    await store.putTrackedItems([item, ...rest]);
    const ids = [item, ...rest].map(({ id }) => id);
    const read = await other.getTrackedItems([...ids, newId()]);
    expect(new Map(read.map((each) => [each.id, each]))).toEqual(
      new Map([item, ...rest].map((each) => [each.id, each])),
    );
    const only = async () => (await store.getTrackedItems([item.id]))[0];
    const again = { ...item, seenBatch: 1, values: someValues({ price: 1, variants: null }), rules: {} };
    await store.putTrackedItems([again]);
    expect(await only()).toEqual(again);
    for (const earlier of [
      { seenAt: aTime - 1, seenJob: 'z' },
      { seenAt: aTime, seenJob: 'a' },
    ])
      await store.putTrackedItems([{ ...item, ...earlier, source: 'no' }, anItem()]);
    expect(await only()).toEqual(again);
    const later = { ...item, seenAt: aTime + 1, seenJob: 'a', isPresent: false, source: 'other' };
    await Promise.all([
      store.putTrackedItems([{ ...later, firstAt: 1 }]),
      other.putTrackedItems([{ ...again, seenBatch: 2 }]),
    ]);
    expect(await only()).toEqual(later);
    expect(await store.getTrackedItems([])).toEqual([]);
    await store.putTrackedItems([]);
  });

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
    await store.putTrackedItems([...mine, ...elsewhere]);
    const listed = await allPages(2, (page) => store.listTrackedItems(userId, '', {}, page));
    expect(listed.map(({ changedAt }) => changedAt)).toEqual([3, 2, 2, 1, 1, 0, 0].map((at) => aTime + at));
    expect(new Set(listed.map(({ id }) => id))).toEqual(new Set(mine.map(({ id }) => id)));
    const keys = async (filter: Parameters<typeof store.listTrackedItems>[2]) =>
      (await store.listTrackedItems(userId, '', filter, { limit: 10 })).items.map(({ key }) => key).sort();
    expect(await keys({ market: 'mkta' })).toEqual(['key-0', 'key-1', 'key-2']);
    expect(await keys({ market: 'mkta', region: 'id' })).toEqual(['key-1']);
    expect(await keys({ search: 'KEY-4' })).toEqual(['key-4']);
    expect(await keys({ search: 'ünique 100%' })).toEqual(['key-5']);
    expect(await keys({ search: 'lamp' })).toHaveLength(6);
    expect(await keys({ search: 'L.mp' })).toEqual([]);
    expect((await store.listTrackedItems(userId, 'daily', {}, { limit: 9 })).items).toEqual([elsewhere[0]]);
  });

  test('finds present items of a series by their sources that a job did not read', async () => {
    const { store } = stores;
    const userId = newId();
    const base = { userId, series: 'daily', source: 'one' };
    const absent = [anItem(base), anItem({ ...base, source: 'two' })];
    await store.putTrackedItems([
      ...absent,
      anItem({ ...base, seenJob: 'job 2' }),
      anItem({ ...base, seenAt: aTime + 1 }),
      anItem({ ...base, isPresent: false }),
      anItem({ ...base, source: 'three' }),
      anItem({ ...base, series: 'weekly' }),
      anItem({ ...base, series: '' }),
      anItem({ ...base, userId: newId() }),
    ]);
    const find = (limit: number, sources = ['one', 'two']) =>
      store.findAbsentItems(userId, 'daily', sources, { jobId: 'job 2', before: aTime + 1 }, limit);
    const sorted = absent.sort((a, b) => (a.id < b.id ? -1 : 1));
    expect(await find(10)).toEqual(sorted);
    expect(await find(1)).toEqual(sorted.slice(0, 1));
    expect(await find(10, [])).toEqual([]);
  });
}

function observationConformance(open: OpenStores): void {
  const stores = setUpStores(open);

  test('observations are written once, end the one before, and are listed by time', async () => {
    const { store, other } = stores;
    const item = anItemKey({ key: 'a/b c', region: '' });
    const all = Array.from({ length: 5 }, (_, at) =>
      anObservation({ ...item, at: aTime + at * 10, values: someValues({ price: at + 0.5 }) }),
    );
    const added = all.map((observation, at) => ({ observation, previous: all[at - 1] ?? null }));
    await store.addObservations(added);
    await store.addObservations([{ observation: { ...all[2]!, changed: [] }, previous: all[1]! }]);
    await other.addObservations([
      { observation: anObservation({ ...item, key: 'a' }), previous: null },
      { observation: anObservation({ ...item, key: 'a/b c/0' }), previous: null },
      { observation: anObservation({ ...item, userId: newId() }), previous: null },
    ]);
    const expected = all.map((each, at) => ({ ...each, endedAt: all[at + 1]?.at ?? null })).reverse();
    const far = Number.MAX_SAFE_INTEGER;
    expect(await allPages(2, (page) => store.listObservations(item, 0, far, page))).toEqual(expected);
    const between = await store.listObservations(item, aTime + 10, aTime + 30, { limit: 10 });
    expect(between.items).toEqual(expected.slice(2, 4));
    expect(await store.findObservation(item, aTime + 10)).toEqual(expected[4]);
    expect(await store.findObservation(item, far)).toEqual(expected[0]);
    expect(await store.findObservation(item, aTime)).toBeNull();
    expect((await store.listObservations(anItemKey(), 0, far, { limit: 1 })).items).toEqual([]);
  });
}

function changeConformance(open: OpenStores): void {
  const stores = setUpStores(open);

  test('changes are written once and listed in the order of batches, also by type', async () => {
    const { store } = stores;
    const jobId = newId();
    const changes = [
      aChange(jobId, 0, { type: 'new', before: {}, title: null }),
      aChange(jobId, 1),
      aChange(jobId, 2, { type: 'missing', before: {}, after: {} }),
      aChange(jobId, 10),
      aChange(jobId, 11, { type: 'back' }),
    ];
    await store.addChanges([...changes].reverse());
    await store.addChanges([{ ...changes[1]!, title: 'Other' }, aChange(newId(), 1)]);
    expect(await allPages(2, (page) => store.listChanges(jobId, null, page))).toEqual(changes);
    expect(await allPages(1, (page) => store.listChanges(jobId, 'changed', page))).toEqual([
      changes[1],
      changes[3],
    ]);
    expect(await store.countChanges(jobId)).toEqual({ new: 1, changed: 2, missing: 1, back: 1 });
    expect(await store.countChanges(newId())).toEqual({ new: 0, changed: 0, missing: 0, back: 0 });
    const found = await stores.other.getChanges([changes[4]!.id, newId()]);
    expect(found).toEqual([changes[4]]);
    expect((await store.listChanges(newId(), null, { limit: 5 })).items).toEqual([]);
  });
}

function ruleConformance(open: OpenStores): void {
  const stores = setUpStores(open);

  test('rules are created, replaced in order, listed by age, and deleted by their user', async () => {
    const { store, other } = stores;
    const rule = aRule();
    const second = aRule({ userId: rule.userId, createdAt: aTime + 1, threshold: null, field: 'title' });
    expect(await store.createRule(second)).toBe(true);
    expect(await store.createRule(rule)).toBe(true);
    expect(await store.createRule({ ...rule, name: 'Other' })).toBe(false);
    expect(await store.listRules(rule.userId)).toEqual([rule, second]);
    const changed = { ...rule, name: 'Changed', enabled: false, revision: 2 };
    const written = await runConcurrently(4, { store, other }, (each) => each.putRule(changed));
    expect(written.filter(Boolean)).toHaveLength(1);
    expect(await other.getRule(rule.id)).toEqual(changed);
    expect(await store.putRule({ ...changed, userId: newId(), revision: 3 })).toBe(false);
    expect(await store.deleteRule(rule.id, newId())).toBe(false);
    expect(await store.deleteRule(rule.id, rule.userId)).toBe(true);
    expect(await store.getRule(rule.id)).toBeNull();
    expect(await store.putRule({ ...changed, revision: 3 })).toBe(false);
  });
}

function lifetimeConformance(open: OpenStores): void {
  describe('expiry and erasure', () => {
    const stores = setUpStores(open);
    const far = Number.MAX_SAFE_INTEGER;

    test('expire() deletes superseded observations, and changes with their runs', async () => {
      const { store } = stores;
      const item = anItemKey();
      const [first, second] = [aTime, aTime + 1_000].map((at) => anObservation({ ...item, at }));
      await store.addObservations([
        { observation: first!, previous: null },
        { observation: second!, previous: first! },
      ]);
      const old = aRun({ stage: 'done', dueAt: null, doneAt: aTime });
      const recent = aRun({ stage: 'done', dueAt: null, doneAt: aTime + 5_000 });
      const pending = aRun();
      for (const run of [old, recent, pending]) {
        await store.createTrackingRun(run);
        await store.addChanges([aChange(run.jobId, 0), aChange(run.jobId, 1)]);
      }
      const listed = async ({ jobId }: TrackingRun) =>
        (await store.listChanges(jobId, null, { limit: 9 })).items.length;
      const cutoffs = (at: number) => ({ observations: at, trackingRuns: at });
      expect(await store.expire(cutoffs(aTime))).toBe(0);
      expect(await store.expire(cutoffs(aTime + 2_000))).toBe(1 + 2 + 1);
      expect((await store.listObservations(item, 0, far, { limit: 9 })).items).toEqual([second]);
      expect(await Promise.all([old, recent, pending].map(listed))).toEqual([0, 2, 2]);
      expect(await store.getTrackingRun(old.jobId)).toBeNull();
      expect(await store.getTrackingRun(pending.jobId)).toEqual(pending);
    });

    test('the deletion of a job deletes its run and changes', async () => {
      const { store } = stores;
      const job = aJob({ state: 'completed', finishedAt: aTime });
      await store.createJob(job, []);
      const run = aRun({ jobId: job.id });
      await store.createTrackingRun(run);
      await store.addChanges([aChange(job.id, 0)]);
      const { id, userId, market, kind, state, unitPrice, cost, refunded, totalUnits, createdAt } = job;
      const summary: DeletedJob = {
        ...{ id, userId, market, kind, state, unitPrice, cost, refunded, totalUnits, createdAt },
        finishedAt: aTime,
        discount: 0,
        success: 0,
        failed: 0,
        deletedAt: aTime,
      };
      await store.deleteJob(summary);
      expect(await store.getTrackingRun(job.id)).toBeNull();
      expect((await store.listChanges(job.id, null, { limit: 9 })).items).toEqual([]);
    });

    test('the erasure of a user deletes runs, items, observations, changes, and rules', async () => {
      const { store } = stores;
      const [userId, other] = [newId(), newId()];
      const runs: TrackingRun[] = [];
      for (const owner of [userId, other]) {
        const run = aRun({ userId: owner });
        runs.push(run);
        await store.createTrackingRun(run);
        await store.addChanges([aChange(run.jobId, 0), aChange(run.jobId, 1), aChange(run.jobId, 2)]);
        await store.putTrackedItems([
          anItem({ userId: owner }),
          anItem({ userId: owner }),
          anItem({ userId: owner }),
        ]);
        await store.createRule(aRule({ userId: owner }));
        const observation = anObservation({ userId: owner });
        await store.addObservations([{ observation, previous: null }]);
      }
      const left = async (owner: string, { jobId }: TrackingRun) => [
        (await store.listTrackedItems(owner, '', {}, { limit: 9 })).items.length,
        (await store.listObservations(anItemKey({ userId: owner }), 0, far, { limit: 9 })).items.length,
        (await store.listChanges(jobId, null, { limit: 9 })).items.length,
        (await store.listRules(owner)).length,
        (await store.getTrackingRun(jobId)) === null ? 0 : 1,
      ];
      expect(await left(userId, runs[0]!)).toEqual([3, 1, 3, 1, 1]);
      while ((await store.eraseUserRecords(userId, 2)) > 0);
      expect(await left(userId, runs[0]!)).toEqual([0, 0, 0, 0, 0]);
      expect(await left(other, runs[1]!)).toEqual([3, 1, 3, 1, 1]);
    });
  });
}
