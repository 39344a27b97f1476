import { expect, test } from 'vitest';
import { newId } from '../../base/id.ts';
import { countsOf, findUnit, hasOutstanding, inFlightOf } from '../batch-store.ts';
import { releaseBatch } from '../claims.ts';
import { aBatch, aFailure, aJob, aSuccess, aTime, storeJob, units } from './samples.ts';
import { collect, type OpenStores, setUpStores } from './stores.ts';

/** Reads of batches. */
export function progressConformance(open: OpenStores): void {
  const stores = setUpStores(open);

  test('counts follow the batches', async () => {
    const { job, batches } = await storeJob(stores.store, 4);
    await stores.store.batches.queue(job.id, 3, aTime);
    for (const batch of batches.slice(0, 3))
      await stores.store.batches.claim(batch, 0, aTime, aTime + 9);
    await stores.store.batches.recordOutcomes(batches[0]!, 1, {
      outcomes: { 0: aSuccess(), 1: aFailure },
      end: { file: null, at: aTime },
    });
    await stores.store.batches.recordOutcomes(batches[1]!, 1, {
      outcomes: { 0: aFailure, 1: aFailure },
      end: { file: null, at: aTime },
    });
    await stores.store.batches.recordOutcomes(batches[2]!, 1, { outcomes: { 0: aSuccess() } });
    expect(await countsOf(stores.store, job.id)).toEqual({
      units: { total: 8, success: 2, failed: 3 },
      batches: { total: 4, success: 1, failed: 1 },
    });
    expect(await hasOutstanding(stores.store, job.id)).toBe(true);
    expect(await inFlightOf(stores.store, job.id, aTime)).toMatchObject({
      batches: 1,
      deferred: new Map(),
    });
  });

  test('counts of several jobs are returned together, without jobs that have no batches', async () => {
    const { job: first, batches } = await storeJob(stores.store, 3);
    const { job: second } = await storeJob(stores.store, 1);
    await stores.store.batches.queue(first.id, 1, aTime);
    await stores.store.batches.claim(batches[0]!, 0, aTime, aTime + 9);
    await stores.store.batches.recordOutcomes(batches[0]!, 1, {
      outcomes: { 0: aSuccess(), 1: aFailure },
      end: { file: null, at: aTime },
    });
    expect(await stores.store.batches.countJobs([first.id, newId(), second.id])).toEqual(
      new Map([
        [first.id, await countsOf(stores.store, first.id)],
        [second.id, await countsOf(stores.store, second.id)],
      ]),
    );
    expect(await stores.store.batches.countJobs([])).toEqual(new Map());
  });

  test('deferred batches are counted separately, by region, while they are deferred', async () => {
    const job = aJob({ totalBatches: 6, totalUnits: 12 });
    const regions = ['sg', 'sg', 'id', 'id', 'th', 'th'];
    const batches = regions.map((region, seq) => aBatch(job, seq, units(2), { region }));
    await stores.store.jobs.create(job, batches);
    await stores.store.batches.queue(job.id, 5, aTime);
    for (const [at, notBefore] of [
      [0, aTime + 10],
      [1, aTime + 20],
      [2, aTime + 10],
    ] as const) {
      await stores.store.batches.claim(batches[at]!, 0, aTime, aTime + 9);
      await releaseBatch(stores.store, { ...batches[at]!, attempt: 1 }, notBefore);
    }
    await stores.store.batches.claim(batches[3]!, 0, aTime, aTime + 90);
    const count = (now: number) => inFlightOf(stores.store, job.id, now);
    const regionsInFlight = (sg: number, id: number, th: number) =>
      new Map(Object.entries({ sg, id, th }));
    const all = new Map([
      ['sg', 2],
      ['id', 1],
    ]);
    expect(await count(aTime)).toEqual({
      batches: 2,
      byRegion: regionsInFlight(0, 1, 1),
      deferred: all,
    });
    expect(await count(aTime + 9)).toEqual({
      batches: 2,
      byRegion: regionsInFlight(0, 1, 1),
      deferred: all,
    });
    expect(await count(aTime + 10)).toEqual({
      batches: 4,
      byRegion: regionsInFlight(1, 2, 1),
      deferred: new Map([['sg', 1]]),
    });
    // A worker may claim one sooner.
    await stores.store.batches.claim(batches[1]!, 1, aTime, aTime + 90);
    expect(await count(aTime)).toEqual({
      batches: 3,
      byRegion: regionsInFlight(1, 1, 1),
      deferred: new Map([
        ['sg', 1],
        ['id', 1],
      ]),
    });
    expect(await count(aTime + 20)).toEqual({
      batches: 5,
      byRegion: regionsInFlight(2, 2, 1),
      deferred: new Map(),
    });
  });

  test('a job without batches has zero counts', async () => {
    const none = { total: 0, success: 0, failed: 0 };
    expect(await countsOf(stores.store, newId())).toEqual({ units: none, batches: none });
    expect(await hasOutstanding(stores.store, newId())).toBe(false);
    expect(await inFlightOf(stores.store, newId(), aTime)).toEqual({
      batches: 0,
      byRegion: new Map(),
      deferred: new Map(),
    });
    expect(await stores.store.batches.find({ jobId: newId() })).toEqual([]);
    expect(await collect(stores.store.batches.read(newId()))).toEqual([]);
  });

  test('batches are listed by position, without units', async () => {
    const job = aJob({ totalBatches: 45, totalUnits: 90 });
    const batches = Array.from({ length: 45 }, (_, seq) => aBatch(job, seq));
    await stores.store.jobs.create(job, batches.toReversed());
    const listed = await stores.store.batches.find({ jobId: job.id });
    expect(listed).toEqual(
      batches.map(
        ({
          units: its,
          outcomes: _,
          segments: ____,
          pages: ______,
          stalledClaims: __,
          isolated: ___,
          wait: _____,
          ...rest
        }) => ({
          ...rest,
          total: its.length,
        }),
      ),
    );
    expect(await collect(stores.store.batches.read(job.id))).toEqual(batches);
  });

  test('batches at given positions are read alone, in order', async () => {
    const { job, batches } = await storeJob(stores.store, 60);
    const read = (seqs: number[]) => collect(stores.store.batches.read(job.id, { seqs }));
    const even = batches.filter(({ seq }) => seq % 2 === 0);
    expect(await read(even.map(({ seq }) => seq))).toEqual(even);
    expect(await read([7, 59, 60, 99])).toEqual([batches[7], batches[59]]);
    expect(await read(Array.from({ length: 40 }, (_, at) => 100 + at))).toEqual([]);
    expect(await read([])).toEqual([]);
  });

  test('iteration over batches can stop early', async () => {
    const { job } = await storeJob(stores.store, 45);
    for await (const { seq } of stores.store.batches.read(job.id)) if (seq === 30) break;
    expect(await hasOutstanding(stores.store, job.id)).toBe(true);
  });

  test('a unit is found at its first position', async () => {
    const job = aJob({ totalBatches: 2, totalUnits: 5 });
    const key = 'https://x.example/$a.b?é=1';
    const first = aBatch(job, 0, units(2));
    const second = aBatch(job, 1, [
      ...units(1, 'y'),
      { key, input: { at: 1 } },
      { key, input: { at: 2 } },
    ]);
    const third = aBatch(job, 2, [{ key, input: { at: 3 } }]);
    await stores.store.jobs.create(job, [third, second, first]);
    expect(await findUnit(stores.store, job.id, key)).toEqual({ batch: second, index: 1 });
    expect(await findUnit(stores.store, job.id, 'unit 1')).toEqual({ batch: first, index: 1 });
    expect(await findUnit(stores.store, job.id, 'unit 2')).toBeNull();
    expect(await findUnit(stores.store, newId(), key)).toBeNull();
  });

  test('the backlog is counted by market and lane', async () => {
    const before = await stores.store.batches.countBacklog(0);
    expect(before.filter(({ market }) => market === 'mktx')).toEqual([]);
    const { job, batches } = await storeJob(stores.store, 4, { market: 'mktx' });
    await storeJob(stores.store, 1, { market: 'mkty' });
    const { job: single } = await storeJob(stores.store, 1, { market: 'mktx', lane: 'single' });
    await stores.store.batches.queue(job.id, 3, aTime);
    await stores.store.batches.queue(single.id, 1, aTime);
    await stores.store.batches.claim(batches[0]!, 0, aTime, aTime + 9);
    await stores.store.batches.claim(batches[1]!, 0, aTime, aTime + 9);
    await stores.store.batches.recordOutcomes(batches[1]!, 1, {
      outcomes: { 0: aFailure, 1: aFailure },
      end: { file: null, at: aTime },
    });
    const after = await stores.store.batches.countBacklog(0);
    expect(after.filter(({ market }) => market === 'mktx' || market === 'mkty')).toEqual([
      { market: 'mktx', lane: 'bulk', queued: 1, claimed: 1, dueAt: null },
      { market: 'mktx', lane: 'single', queued: 1, claimed: 0, dueAt: null },
    ]);
  });

  test('the oldest due batch is the queued one that has been due longest', async () => {
    const start = aTime - 10_000_000;
    const dueAt = async (now: number) =>
      (await stores.store.batches.countBacklog(now)).find(({ market }) => market === 'mktz')?.dueAt;
    expect(await dueAt(start)).toBeUndefined();
    const { job, batches } = await storeJob(stores.store, 3, { market: 'mktz' });
    await stores.store.batches.queue(job.id, 1, start + 10);
    await stores.store.batches.queue(job.id, 2, start + 20);
    expect(await dueAt(start)).toBeNull();
    expect(await dueAt(start + 100)).toBe(start + 10);
    await stores.store.batches.claim(batches[0]!, 0, start + 30, start + 90);
    expect(await dueAt(start + 100)).toBe(start + 20);
    await releaseBatch(stores.store, { ...batches[0]!, attempt: 1 }, start + 200);
    for (const batch of batches.slice(1))
      await stores.store.batches.claim(batch, 0, start + 30, start + 90);
    expect(await dueAt(start + 199)).toBeNull();
    expect(await dueAt(start + 300)).toBe(start + 200);
  });
}
