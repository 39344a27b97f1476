import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type JobFixture, openJobFixture } from '../../test/support/jobs/jobs.ts';
import { openTracking, type Tracking } from '../../test/support/jobs/tracking.ts';
import { newId } from '../base/id.ts';
import { Fault } from '../contract/fault.ts';
import { requireCompared } from '../jobs/queries/item-changes.ts';
import { approve } from '../jobs/steps/decide.ts';
import { aRule, aWebhook } from '../store/conformance/history-samples.ts';
import { listChanges, listObservations, listTrackedItems, type Rule } from '../store/history.ts';
import { markFilesDeleted } from '../store/retention.ts';
import { newTrackingRun } from '../store/tracking-run.ts';
import { replaceMethods } from '../store/wrap.ts';
import { skipComparison } from './failed-comparison.ts';
import { track } from './tracker.ts';

const [lamp, chair, table] = ['30000000001', '30000000002', '30000000003'] as const;
const none = { new: 0, changed: 0, missing: 0, back: 0, unchanged: 0 };
const all = { limit: 100 };

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

const itemOf = (key: string, owner = userId) => ({
  userId: owner,
  market: 'mkta',
  region: 'id',
  key,
});
const history = async (key: string, owner = userId) =>
  (
    await listObservations(
      fixture.context.store,
      itemOf(key, owner),
      0,
      Number.MAX_SAFE_INTEGER,
      all,
    )
  ).items;
const changesOf = async (jobId: string) =>
  (await listChanges(fixture.context.store, jobId, null, all)).items.map(
    ({ key, type, before, after }) => ({
      key,
      type,
      before,
      after,
    }),
  );

describe('a job with track=true', () => {
  test('writes an observation of each item only when a value changes', async () => {
    const first = await tracking.run(userId, [lamp, chair]);
    expect(first).toMatchObject({ stage: 'done', dueAt: null, counts: { ...none, new: 2 } });
    expect(await history(lamp)).toMatchObject([
      {
        jobId: first.jobId,
        endedAt: null,
        values: { title: expect.any(String), price: expect.any(Number) },
      },
    ]);
    const second = await tracking.run(userId, [lamp, chair]);
    expect(second.counts).toEqual({ ...none, unchanged: 2 });
    expect(await changesOf(second.jobId)).toEqual([]);
    expect(await history(lamp)).toHaveLength(1);

    tracking.changeItem(lamp, { priceFactor: 0.5 });
    const third = await tracking.run(userId, [lamp, chair]);
    expect(third.counts).toEqual({ ...none, changed: 1, unchanged: 1 });
    const [latest, before] = await history(lamp);
    expect(latest!.values.price! / before!.values.price!).toBeCloseTo(0.5);
    expect(latest).toMatchObject({
      jobId: third.jobId,
      changed: ['price', 'variants'],
      endedAt: null,
    });
    expect(before).toMatchObject({ jobId: first.jobId, endedAt: latest!.at });
    expect(await changesOf(third.jobId)).toMatchObject([
      {
        key: lamp,
        type: 'changed',
        before: { price: before!.values.price },
        after: { price: latest!.values.price },
      },
    ]);
    expect(await history(chair)).toHaveLength(1);
  });

  test('does not take an older copy of a page for its latest state', async () => {
    await tracking.run(userId, [lamp]);
    tracking.changeItem(lamp, { priceFactor: 0.5 });
    await tracking.run(userId, [lamp]);
    const latest = await history(lamp);
    // A cache of the site sends the page from before the first job.
    fixture.wrapFetch((fetch) => async (request) => ({
      ...(await fetch(request)),
      headers: { age: '60' },
    }));
    const third = await tracking.run(userId, [lamp]);
    expect(third.counts).toMatchObject({ changed: 0 });
    expect(await changesOf(third.jobId)).toEqual([]);
    const [now] = await history(lamp);
    expect(now!.values.price).toBe(latest[0]!.values.price);
    expect(now!.endedAt).toBeNull();
  });

  test('reports no missing items', async () => {
    await tracking.run(userId, [lamp, chair]);
    tracking.changeItem(lamp, { isRemoved: true });
    expect((await tracking.run(userId, [lamp, chair])).counts).toEqual({ ...none, unchanged: 1 });
  });

  test('compares an item that is submitted twice once', async () => {
    const run = await tracking.run(userId, [lamp, lamp, chair, ...Array(50).fill(table), lamp]);
    expect(run.counts).toEqual({ ...none, new: 3 });
    expect(await history(lamp)).toHaveLength(1);
  });

  test('does not compare with the jobs of other users', async () => {
    await tracking.run(userId, [lamp]);
    const other = await fixture.createUser(1_000);
    const run = await tracking.run(other, [lamp]);
    expect(run.counts).toEqual({ ...none, new: 1 });
    expect(await history(lamp)).toHaveLength(1);
    expect(await history(lamp, other)).toHaveLength(1);
  });

  test('ignores an older reading that is compared later', async () => {
    const { store } = fixture.context;
    const older = await tracking.end(userId, [lamp]);
    tracking.changeItem(lamp, { priceFactor: 0.5 });
    const newer = await tracking.run(userId, [lamp]);
    await store.trackingRuns.insert({ ...newTrackingRun(older)!, activeUser: null });
    await tracking.compare();
    expect((await store.trackingRuns.get(older.id))!.counts).toEqual({ ...none, unchanged: 1 });
    expect((await history(lamp)).map(({ jobId }) => jobId)).toEqual([newer.jobId]);
  });

  test('dates values with the time at which the page was read, not with the end of the job', async () => {
    const { clock } = fixture;
    fixture.wrapFetch((fetch, itemId) => async (request) => {
      // The other page of the batch takes a minute more.
      if (itemId === chair) await clock.advance(60_000);
      return fetch(request);
    });
    const run = await tracking.run(userId, [lamp, chair], 'daily');
    const [[first], [second]] = [await history(lamp), await history(chair)];
    expect(second!.at).toBe(run.at);
    expect(run.at - first!.at).toBeGreaterThan(50_000);
    const { items } = await listChanges(fixture.context.store, run.jobId, null, all);
    expect(items.map(({ key, at }) => [key, at])).toEqual([
      [lamp, first!.at],
      [chair, second!.at],
    ]);
  });

  test('ignores a page that was read before the last change, in a job that ended later', async () => {
    const { clock, context } = fixture;
    tracking.changeItem(lamp, { priceFactor: 0.5 });
    const newer = await tracking.run(userId, [lamp], 'daily');
    tracking.changeItem(lamp, null);
    const older = await tracking.end(userId, [lamp], 'daily');
    await clock.advance(1_000);
    const [batch] = await Array.fromAsync(context.store.batches.read(older.id));
    const outcome = { ...batch!.outcomes[0]!, readAt: newer.at - 60_000 };
    const store = replaceMethods(context.store, {
      batches: {
        async *read() {
          yield { ...batch!, outcomes: { 0: outcome } };
        },
      },
    });
    await store.trackingRuns.insert({ ...newTrackingRun(older)!, activeUser: null });
    while (await track({ ...context, store }, new AbortController().signal));
    expect((await store.trackingRuns.get(older.id))!.counts).toEqual({ ...none, unchanged: 1 });
    expect((await history(lamp)).map(({ jobId }) => jobId)).toEqual([newer.jobId]);
  });

  test('ends without changes if its files were deleted before', async () => {
    const { store, clock } = fixture.context;
    const job = await tracking.end(userId, [lamp]);
    await markFilesDeleted(store, job.id, clock.now());
    await store.trackingRuns.insert({ ...newTrackingRun(job)!, activeUser: null });
    await tracking.compare();
    expect(await store.trackingRuns.get(job.id)).toMatchObject({ stage: 'done', counts: none });
  });

  test.each([undefined, '', 'false'])('is not compared with track=%j', async (option) => {
    const job = await tracking.end(userId, [lamp], option ?? '');
    expect(
      newTrackingRun({ ...job, options: option === undefined ? {} : { track: option } }),
    ).toBeNull();
  });
});

describe('a series', () => {
  test('reports items that are missing and back again', async () => {
    await tracking.run(userId, [lamp, chair, table], 'daily');
    tracking.changeItem(lamp, { isRemoved: true });
    const second = await tracking.run(userId, [lamp, chair, table], 'daily');
    expect(second.counts).toEqual({ ...none, missing: 1, unchanged: 2 });
    expect(await changesOf(second.jobId)).toEqual([
      { key: lamp, type: 'missing', before: {}, after: {} },
    ]);
    expect((await tracking.run(userId, [lamp, chair, table], 'daily')).counts).toEqual({
      ...none,
      unchanged: 2,
    });
    tracking.changeItem(lamp, { title: 'Lamp, second edition' });
    const fourth = await tracking.run(userId, [lamp, chair, table], 'daily');
    expect(fourth.counts).toEqual({ ...none, back: 1, unchanged: 2 });
    expect(await changesOf(fourth.jobId)).toMatchObject([
      { key: lamp, type: 'back', after: { title: 'Lamp, second edition' } },
    ]);
  });

  test('does not report items that were not submitted, or whose pages could not be read', async () => {
    await tracking.run(userId, [lamp, chair, table], 'daily');
    tracking.failItem(chair, true);
    const second = await tracking.run(userId, [chair, table], 'daily');
    expect(second.counts).toEqual({ ...none, unchanged: 1 });
  });

  test('compares with its own last run, and its changes are observed once', async () => {
    await tracking.run(userId, [lamp], 'daily');
    tracking.changeItem(lamp, { priceFactor: 0.5 });
    await tracking.run(userId, [lamp], 'weekly');
    const daily = await tracking.run(userId, [lamp], 'daily');
    expect(daily.counts).toEqual({ ...none, changed: 1 });
    expect(await history(lamp)).toHaveLength(2);
  });
});

describe('the jobs of a user', () => {
  const { signal } = new AbortController();
  const runOf = async (jobId: string) => (await fixture.context.store.trackingRuns.get(jobId))!;

  /** Ends two jobs that read different prices of the lamp. */
  const endTwo = async (firstTrack: string, secondTrack = firstTrack) => {
    const first = await tracking.end(userId, [lamp], firstTrack);
    tracking.changeItem(lamp, { priceFactor: 0.5 });
    return [first, await tracking.end(userId, [lamp], secondTrack)] as const;
  };

  test.each(['daily', 'true'])(
    'are compared in the order of their ends with track=%s',
    async (option) => {
      const { store } = fixture.context;
      const [first, second] = await endTwo(option);
      await store.trackingRuns.insert({
        ...newTrackingRun(first)!,
        dueAt: fixture.clock.now() + 60_000,
        activeUser: null,
      });
      await store.trackingRuns.insert({ ...newTrackingRun(second)!, activeUser: null });
      await track(fixture.context, signal);
      expect((await runOf(second.id)).stage).toBe('items');
      await fixture.clock.advance(60_000);
      await tracking.compare();
      expect((await runOf(first.id)).counts).toEqual({ ...none, new: 1 });
      await fixture.clock.advance(60_000);
      await tracking.compare();
      expect((await runOf(second.id)).counts).toEqual({ ...none, changed: 1 });
      expect((await history(lamp)).map(({ endedAt }) => endedAt !== null)).toEqual([false, true]);
    },
  );

  test('are compared one at a time, also one that ended earlier and is known later', async () => {
    const { context, clock } = fixture;
    const [first, second] = await endTwo('true');
    await context.store.trackingRuns.insert({ ...newTrackingRun(second)!, activeUser: null });
    // Stops as a crashed process would, with the run as its user's active one.
    const writeAll = () => Promise.reject(new Fault('unavailable', ''));
    const store = replaceMethods(context.store, { observations: { writeAll } });
    await expect(track({ ...context, store }, signal)).rejects.toThrow();
    await context.store.trackingRuns.insert({ ...newTrackingRun(first)!, activeUser: null });
    await track(context, signal);
    expect(await runOf(first.id)).toMatchObject({ queueState: 'waiting', stage: 'items' });
    await clock.advance(60_000);
    await tracking.compare();
    expect(await runOf(second.id)).toMatchObject({ queueState: null, counts: { new: 1 } });
    await clock.advance(60_000);
    await tracking.compare();
    expect(await runOf(first.id)).toMatchObject({
      queueState: null,
      counts: { ...none, unchanged: 1 },
    });
    expect(await history(lamp)).toMatchObject([{ jobId: second.id, endedAt: null }]);
  });

  test('are compared right after each other, also by different processes', async () => {
    const { context } = fixture;
    const { store } = context;
    const [first, second] = await endTwo('true');
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    let isReading = false;
    const held = replaceMethods(store, {
      batches: {
        async *read(jobId, among) {
          isReading = true;
          await released;
          yield* store.batches.read(jobId, among);
        },
      },
    });
    await store.trackingRuns.insert({ ...newTrackingRun(first)!, activeUser: null });
    const comparing = track({ ...context, store: held }, signal);
    await fixture.eventually('the first job is being compared', () => isReading);
    await store.trackingRuns.insert({ ...newTrackingRun(second)!, activeUser: null });
    await track(context, signal);
    expect(await runOf(second.id)).toMatchObject({ queueState: 'waiting', stage: 'items' });
    release();
    await comparing;
    await tracking.compare();
    expect(await runOf(second.id)).toMatchObject({
      stage: 'done',
      counts: { ...none, changed: 1 },
    });
  });

  test('do not wait for another series whose records cannot be read', async () => {
    const { context } = fixture;
    const [first, second] = await endTwo('daily', 'weekly');
    const third = await tracking.end(userId, [lamp], 'daily');
    for (const job of [first, second, third])
      await context.store.trackingRuns.insert({ ...newTrackingRun(job)!, activeUser: null });
    const readBatches: typeof context.store.batches.read = (jobId, wanted) => {
      if (jobId === first.id) throw new Fault('internal', 'Unreadable.');
      return context.store.batches.read(jobId, wanted);
    };
    const broken = {
      ...context,
      store: replaceMethods(context.store, { batches: { read: readBatches } }),
    };
    await track(broken, signal);
    expect(await runOf(first.id)).toMatchObject({ queueState: 'failed' });
    while (await track(broken, signal));
    expect(await runOf(second.id)).toMatchObject({ stage: 'done' });
    expect(await runOf(third.id)).toMatchObject({ queueState: 'behind' });
    const fourth = await tracking.end(userId, [lamp], 'weekly');
    const fifth = await tracking.end(userId, [lamp], 'true');
    for (const job of [fourth, fifth])
      await context.store.trackingRuns.insert({ ...newTrackingRun(job)!, activeUser: null });
    while (await track(broken, signal));
    for (const { id } of [fourth, fifth]) expect(await runOf(id)).toMatchObject({ stage: 'done' });
    await fixture.clock.advance(30_000);
    await tracking.compare();
    await fixture.clock.advance(30_000);
    await tracking.compare();
    for (const { id } of [first, third]) expect(await runOf(id)).toMatchObject({ stage: 'done' });
  });
});

describe('the jobs of several users', () => {
  const { signal } = new AbortController();

  test('are compared at the same time, in one process and in others', async () => {
    const { context } = fixture;
    const { store } = context;
    const jobs = [];
    for (let user = 0; user < 6; user += 1) {
      const job = await tracking.end(await fixture.createUser(1_000), [lamp]);
      await store.trackingRuns.insert({ ...newTrackingRun(job)!, activeUser: null });
      jobs.push(job);
    }
    const { promise: allRead, resolve: release } = Promise.withResolvers<void>();
    const reading = new Set<string>();
    const held = replaceMethods(store, {
      batches: {
        async *read(jobId, among) {
          reading.add(jobId);
          if (reading.size === jobs.length) release();
          await allRead;
          yield* store.batches.read(jobId, among);
        },
      },
    });
    const processes = [
      track({ ...context, store: held }, signal),
      track({ ...context, store: held }, signal),
    ];
    await fixture.eventually('every job is being compared', () => reading.size === jobs.length);
    await Promise.all(processes);
    for (const { id } of jobs)
      expect(await store.trackingRuns.get(id)).toMatchObject({
        stage: 'done',
        counts: { ...none, new: 1 },
      });
  });
});

describe('a run whose file cannot be read', () => {
  const { signal } = new AbortController();
  const dayMs = 24 * 3_600_000;
  const unreadable = (isOutage: boolean) => {
    const { context } = fixture;
    const fault = new Fault('unavailable', 'access denied', { component: 'file store' });
    const ping = isOutage ? () => Promise.reject(fault) : context.blobs.ping;
    return { ...context, blobs: { ...context.blobs, ping, read: () => Promise.reject(fault) } };
  };
  const runOf = async (jobId: string) => (await fixture.context.store.trackingRuns.get(jobId))!;

  test.each([
    [false, { stage: 'done', queueState: null, counts: none }],
    [true, { stage: 'items', queueState: 'failed' }],
  ])(
    'is given up after a day unless the storage is unavailable (%s)',
    async (isOutage, expected) => {
      const { store, clock } = fixture.context;
      const job = await tracking.end(userId, [lamp]);
      const other = await tracking.end(await fixture.createUser(1_000), [chair]);
      for (const each of [job, other])
        await store.trackingRuns.insert({ ...newTrackingRun(each)!, activeUser: null });
      const context = unreadable(isOutage);
      await track(context, signal);
      // The other runs of the round do not wait for their leases to expire.
      for (const { id } of [job, other])
        expect(await runOf(id)).toMatchObject({
          queueState: 'failed',
          dueAt: clock.now() + 30_000,
        });
      await fixture.clock.advance(dayMs + 1);
      while (await track(context, signal));
      expect(await runOf(job.id)).toMatchObject(expected);
      await fixture.clock.advance(30_000);
      await tracking.compare();
      expect((await runOf(job.id)).counts.new).toBe(isOutage ? 1 : 0);
    },
  );
});

describe('a comparison that fails', () => {
  const { signal } = new AbortController();

  test('notifies operators after ten minutes, and can be skipped', async () => {
    const { context, clock } = fixture;
    const { store } = context;
    const webhook = { url: 'https://operators.test/', secret: 'whsec_AAAA' };
    const notices = { ...context.settings.notices, operatorWebhook: webhook };
    const readBatches: typeof store.batches.read = () => {
      throw new Fault('internal', 'Unreadable.');
    };
    const broken = {
      ...context,
      settings: { ...context.settings, notices },
      store: replaceMethods(store, { batches: { read: readBatches } }),
    };
    const job = await tracking.end(userId, [lamp], 'daily');
    await store.trackingRuns.insert({ ...newTrackingRun(job)!, activeUser: null });
    await expect(skipComparison(context, job.id)).rejects.toMatchObject({ code: 'conflict' });
    const messages = async () =>
      (await store.deliveries.list({}, all)).items.filter(
        ({ type }) => type === 'comparison.failed',
      );
    for (let minute = 0; minute < 9; minute++) {
      await track(broken, signal);
      await clock.advance(60_000);
    }
    expect(await messages()).toEqual([]);
    for (let minute = 0; minute < 3; minute++) {
      await clock.advance(60_000);
      await track(broken, signal);
    }
    expect(await messages()).toMatchObject([{ jobId: job.id, target: webhook.url }]);
    expect(await skipComparison(context, job.id)).toMatchObject({ isSkipped: true });
    await expect(requireCompared(context, job)).rejects.toMatchObject({ code: 'results_deleted' });
    await tracking.compare();
    expect(await store.trackingRuns.get(job.id)).toMatchObject({ stage: 'done', dueAt: null });
    await expect(skipComparison(context, job.id)).rejects.toMatchObject({ code: 'conflict' });
    await expect(skipComparison(context, newId())).rejects.toMatchObject({ code: 'not_found' });
    expect((await tracking.run(userId, [lamp], 'daily')).counts).toEqual({ ...none, new: 1 });
  });
});

describe('a job with max_age', () => {
  const maxAge = '1h';

  test('dates reused values with the time at which they were collected', async () => {
    const other = await fixture.createUser(1_000);
    const { clock, context } = fixture;
    await tracking.end(other, [lamp], '', { maxAge });
    const collectedAt = clock.now();
    await clock.advance(600_000);
    const first = await tracking.run(userId, [lamp, chair], 'daily', { maxAge });
    expect(await history(lamp)).toMatchObject([
      { jobId: first.jobId, at: collectedAt, endedAt: null },
    ]);
    expect((await history(chair))[0]!.at).toBeGreaterThan(collectedAt);
    expect((await listChanges(context.store, first.jobId, null, all)).items).toMatchObject([
      { key: lamp, type: 'new', at: collectedAt },
      { key: chair, type: 'new', at: first.at },
    ]);
    const [item] = (await listTrackedItems(context.store, userId, 'daily', { search: lamp }, all))
      .items;
    expect(item).toMatchObject({ firstAt: collectedAt, changedAt: collectedAt, seenAt: first.at });
  });

  test('does not report reused items as missing, and ignores values older than the last reading', async () => {
    await tracking.run(userId, [lamp, chair], 'daily', { maxAge });
    expect((await tracking.run(userId, [lamp, chair], 'daily', { maxAge })).counts).toEqual({
      ...none,
      unchanged: 2,
    });
    tracking.changeItem(lamp, { priceFactor: 0.5 });
    const fresh = await tracking.run(userId, [lamp, chair], 'daily');
    expect(fresh.counts).toEqual({ ...none, changed: 1, unchanged: 1 });
    const reused = await tracking.run(userId, [lamp, chair], 'daily', { maxAge });
    expect(reused.counts).toEqual({ ...none, unchanged: 2 });
    expect((await history(lamp)).map(({ jobId }) => jobId)).toHaveLength(2);
    expect((await history(lamp))[0]).toMatchObject({ jobId: fresh.jobId, endedAt: null });
  });
});

describe('a listing', () => {
  const run = async () => {
    const { store } = fixture.context;
    await fixture.clock.advance(1_000);
    const request = { urls: ['https://mkta.sg/shop/21'] };
    const { jobId } = await fixture.submit(userId, 'SubmitMerchantItems', request, undefined, {
      track: 'shop-21',
    });
    await approve(fixture.context, jobId, newId());
    const job = await fixture.waitForState(jobId, 'completed');
    await store.trackingRuns.insert({ ...newTrackingRun(job)!, activeUser: null });
    await tracking.compare();
    return (await store.trackingRuns.get(jobId))!;
  };

  test('tracks each listed item, and reports items that are no longer listed', async () => {
    const { store } = fixture.context;
    const first = await run();
    const listed = first.counts.new;
    expect(listed).toBeGreaterThan(20);
    const { items } = await listTrackedItems(store, userId, 'shop-21', {}, { limit: 3 });
    const [gone, cheaper] = items;
    tracking.changeItem(gone!.key, { isRemoved: true }, 'sg');
    tracking.changeItem(cheaper!.key, { priceFactor: 0.9 }, 'sg');
    const second = await run();
    expect(second.counts).toEqual({ ...none, missing: 1, changed: 1, unchanged: listed - 2 });
    const found = (await changesOf(second.jobId)).sort((a, b) => (a.type < b.type ? -1 : 1));
    expect(found).toMatchObject([
      { key: cheaper!.key, type: 'changed', before: { price: cheaper!.values.price } },
      { key: gone!.key, type: 'missing' },
    ]);
  });

  test('misses no item if the site states more of them than it lists', async () => {
    const listed = (await run()).counts.new;
    fixture.wrapFetch((fetch) => async (request) => {
      const response = await fetch(request);
      const cut = (name: string, value: unknown) =>
        name === 'item_cards' ? (value as object[]).slice(0, 10) : value;
      const body = JSON.stringify(JSON.parse(String(response.body), cut));
      return { ...response, body: Buffer.from(body) };
    });
    const { counts } = await run();
    expect(counts).toMatchObject({ ...none, unchanged: expect.any(Number) });
    expect(counts.unchanged).toBeLessThan(listed);
  });

  test.each(['\u2028', '\u2029', '\u0085'])(
    'tracks an item whose title contains %j',
    async (separator) => {
      const { store } = fixture.context;
      const listed = (await run()).counts.new;
      const [item] = (await listTrackedItems(store, userId, 'shop-21', {}, { limit: 1 })).items;
      const title = `Lamp${separator}second edition`;
      tracking.changeItem(item!.key, { title }, 'sg');
      const second = await run();
      expect(second.counts).toEqual({ ...none, changed: 1, unchanged: listed - 1 });
      expect(await changesOf(second.jobId)).toMatchObject([{ key: item!.key, after: { title } }]);
    },
  );
});

describe('rules', () => {
  const addRule = (fields: Partial<Rule>) =>
    fixture.context.store.rules.insert(aRule({ userId, ...fields }));
  const messages = async () =>
    (await fixture.context.store.deliveries.list({ userId }, all)).items.map(
      ({ type, jobId, body }) => ({
        type,
        jobId,
        data: JSON.parse(body).data,
      }),
    );
  beforeEach(async () => {
    await fixture.context.store.webhooks.put(aWebhook({ userId }));
  });

  test('send one message for each run and item, whatever number of them fires', async () => {
    await addRule({ name: 'Cheaper', condition: 'price_falls_by', threshold: 5 });
    await addRule({ name: 'Any price', condition: 'changes', field: 'price', threshold: null });
    await addRule({
      name: 'Chair only',
      condition: 'changes',
      field: 'title',
      threshold: null,
      key: chair,
    });
    await addRule({ name: 'Other series', condition: 'changes', field: 'price', series: 'weekly' });
    await addRule({ name: 'Off', condition: 'changes', field: 'price', enabled: false });
    await tracking.run(userId, [lamp, chair, table]);
    expect(await messages()).toEqual([]);
    for (const id of [lamp, table]) tracking.changeItem(id, { priceFactor: 0.9 });
    const run = await tracking.run(userId, [lamp, chair, table]);
    const sent = await messages();
    expect(run.messages).toBe(2);
    expect(sent.map(({ data }) => data.key).sort()).toEqual([lamp, table]);
    for (const { type, jobId, data } of sent) {
      expect([type, jobId]).toEqual(['item.changed', run.jobId]);
      expect(data.rules.map(({ name }: Rule) => name).sort()).toEqual(['Any price', 'Cheaper']);
    }
  });

  test('do not fire again for the same price', async () => {
    await addRule({ condition: 'price_falls_by', threshold: 5 });
    await tracking.run(userId, [lamp]);
    for (const [priceFactor, sent] of [
      [0.96, 0],
      [0.94, 1],
      [0.96, 1],
      [0.94, 1],
      [0.9, 2],
      [1, 2],
      [0.94, 3],
    ] as const) {
      tracking.changeItem(lamp, { priceFactor });
      await tracking.run(userId, [lamp]);
      expect([priceFactor, (await messages()).length]).toEqual([priceFactor, sent]);
    }
  });

  test('notify when an item is out of stock and back in stock', async () => {
    await addRule({ name: 'out', condition: 'out_of_stock', threshold: null });
    await addRule({ name: 'back', condition: 'back_in_stock', threshold: null });
    for (const stock of [5, 0, 0, 3, 4]) {
      tracking.changeItem(lamp, { stock });
      await tracking.run(userId, [lamp]);
    }
    const names = (await messages()).map(({ data }) => data.rules.map(({ name }: Rule) => name));
    expect(names.sort()).toEqual([['back'], ['out']]);
  });
});
