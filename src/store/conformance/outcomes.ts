import { expect, test } from 'vitest';
import { countsOf, hasOutstanding, type OutstandingState } from '../batch-store.ts';
import type { Batch, Outcome } from '../batches.ts';
import { releaseBatch, updateClaim } from '../claims.ts';
import { aFailure, aSegment, aSuccess, aTime, storeClaimedBatch, storeJob } from './samples.ts';
import { collect, type OpenStores, runConcurrently, setUpStores } from './stores.ts';

/** Writes of outcomes and segments, and batches ended by other callers. */
export function outcomeConformance(open: OpenStores): void {
  const stores = setUpStores(open);
  const reread = async (batch: Batch): Promise<Batch> =>
    (await collect(stores.store.batches.read(batch.jobId))).find(({ id }) => id === batch.id)!;
  const partsOf = async (batch: Batch) => (await reread(batch)).segments;

  test('outcomes and the segment with their records are stored, and the counts follow', async () => {
    const batch = await storeClaimedBatch(stores.store, 3);
    const file = { path: 'j/u', contentType: 'application/json', items: 1, bytes: 9, sha256: '0a' };
    const outcomes: Record<number, Outcome> = {
      2: { status: 'SUCCESS', attempt: 1, readAt: aTime, file },
      0: aFailure,
    };
    const segment = aSegment('j/p', 2);
    expect(await stores.store.batches.recordOutcomes(batch, 1, { outcomes, segment })).toBe(true);
    const kept = {
      ...batch,
      outcomes,
      segments: [segment],
      success: 1,
      failed: 1,
      storedBytes: 16,
      stalledClaims: 1,
    };
    expect(await reread(batch)).toEqual(kept);
  });

  test('a batch without segments has an empty list of them, and summaries omit segments', async () => {
    const batch = await storeClaimedBatch(stores.store, 1);
    expect(await partsOf(batch)).toEqual([]);
    await stores.store.batches.recordOutcomes(batch, 1, {
      outcomes: { 0: aSuccess() },
      segment: aSegment('j/p', 0),
      end: { file: null, at: aTime },
    });
    expect((await stores.other.batches.find({ jobId: batch.jobId }))[0]).not.toHaveProperty(
      'segments',
    );
  });

  test('a repeated write counts nothing twice, and a unit keeps its first outcome', async () => {
    const batch = await storeClaimedBatch(stores.store, 3);
    await stores.store.batches.recordOutcomes(batch, 1, {
      outcomes: { 0: aSuccess() },
      segment: aSegment('j/first', 0),
    });
    expect(
      await stores.store.batches.recordOutcomes(batch, 1, {
        outcomes: { 0: aSuccess() },
        segment: aSegment('j/again', 0),
      }),
    ).toBe(true);
    const mixed = { 0: aFailure, 1: aSuccess() };
    expect(
      await stores.store.batches.recordOutcomes(batch, 1, {
        outcomes: mixed,
        segment: aSegment('j/one', 0, 1),
      }),
    ).toBe(true);
    expect(await reread(batch)).toMatchObject({
      success: 2,
      failed: 0,
      outcomes: { 0: aSuccess(), 1: aSuccess() },
    });
    expect(await partsOf(batch)).toEqual([aSegment('j/first', 0), aSegment('j/one', 1)]);
    expect(await stores.store.batches.recordOutcomes(batch, 1, { outcomes: {} })).toBe(true);
  });

  test('concurrent writes for different units of a batch are all stored', async () => {
    const batch = await storeClaimedBatch(stores.store, 20);
    const written = await runConcurrently(60, stores, (store, turn) =>
      store.batches.recordOutcomes(batch, 1, {
        outcomes: { [turn % 20]: turn % 2 ? aFailure : aSuccess() },
        segment: aSegment(`j/${turn}`, turn % 20),
      }),
    );
    expect(new Set(written)).toEqual(new Set([true]));
    expect(await reread(batch)).toMatchObject({ success: 10, failed: 10 });
    expect(Object.keys((await reread(batch)).outcomes)).toHaveLength(20);
    const kept = (await partsOf(batch)).flatMap(({ records }) => Object.keys(records).map(Number));
    expect(kept.sort((one, other) => one - other)).toEqual([0, 2, 4, 6, 8, 10, 12, 14, 16, 18]);
  });

  test('a finished batch is done, and finishing it again under the same attempt returns true without a change', async () => {
    const batch = await storeClaimedBatch(stores.store, 2);
    const file = { path: 'j/b', contentType: 'application/json', items: 1, bytes: 9, sha256: '0a' };
    await stores.store.batches.recordOutcomes(batch, 1, {
      outcomes: { 0: aSuccess() },
      segment: aSegment('j/zero', 0),
    });
    const segment = { ...aSegment('j/b', 0, 1), body: { start: 2, end: 7, items: 2 } };
    const finish = (outcome: Outcome) =>
      stores.store.batches.recordOutcomes(batch, 1, {
        outcomes: { 0: outcome, 1: outcome },
        segment,
        end: { file, at: aTime },
      });
    expect(await finish(aSuccess())).toBe(true);
    const done = {
      ...batch,
      outcomes: { 0: aSuccess(), 1: aSuccess() },
      success: 2,
      storedBytes: 7,
      state: 'done',
      leaseUntil: null,
      file,
      // Replaces the earlier segments.
      segments: [segment],
      endedAt: aTime,
      stalledClaims: 1,
    };
    expect(await reread(batch)).toEqual(done);
    expect(await finish(aFailure)).toBe(true);
    expect(await reread(batch)).toEqual(done);
    expect(await hasOutstanding(stores.store, batch.jobId)).toBe(false);
  });

  test('an end with the outcomes of the first units keeps the earlier ones of the others', async () => {
    const batch = await storeClaimedBatch(stores.store, 3);
    await stores.store.batches.recordOutcomes(batch, 1, { outcomes: { 2: aFailure } });
    const last = { 0: aSuccess(), 1: aSuccess() };
    const segment = aSegment('j/all', 0, 1);
    expect(
      await stores.store.batches.recordOutcomes(batch, 1, {
        outcomes: last,
        segment,
        end: { file: null, at: aTime },
      }),
    ).toBe(true);
    expect(await reread(batch)).toMatchObject({
      ...{ state: 'done', success: 2, failed: 1, segments: [segment] },
      outcomes: { ...last, 2: aFailure },
    });
  });

  test('a batch with an outstanding unit cannot end, and an unknown unit cannot have an outcome', async () => {
    const batch = await storeClaimedBatch(stores.store, 3);
    const short = stores.store.batches.recordOutcomes(batch, 1, {
      outcomes: { 0: aSuccess(), 2: aFailure },
      end: { file: null, at: aTime },
    });
    await expect(short).rejects.toMatchObject({ code: 'internal' });
    const outside = stores.store.batches.recordOutcomes(batch, 1, { outcomes: { 3: aSuccess() } });
    await expect(outside).rejects.toMatchObject({ code: 'internal' });
    expect(await reread(batch)).toEqual(batch);
  });

  test('a superseded worker writes nothing', async () => {
    const batch = await storeClaimedBatch(stores.store, 1);
    await stores.other.batches.claim(batch, 1, aTime + 60_001, aTime + 120_000);
    const late = { 0: aSuccess(1) };
    expect(
      await stores.store.batches.recordOutcomes(batch, 1, {
        outcomes: late,
        segment: aSegment('j/late', 0),
      }),
    ).toBe(false);
    expect(
      await stores.store.batches.recordOutcomes(batch, 1, {
        outcomes: late,
        segment: aSegment('j/late', 0),
        end: { file: null, at: aTime },
      }),
    ).toBe(false);
    expect(
      await updateClaim(stores.store, { ...batch, attempt: 1 }, { leaseUntil: aTime + 999_999 }),
    ).toBe(false);
    expect(await reread(batch)).toMatchObject({
      attempt: 2,
      outcomes: {},
      success: 0,
      state: 'claimed',
    });
    expect(
      await stores.other.batches.recordOutcomes(batch, 2, {
        outcomes: { 0: aSuccess(2) },
        segment: aSegment('j/right', 0),
        end: { file: null, at: aTime },
      }),
    ).toBe(true);
    expect(
      await stores.store.batches.recordOutcomes(batch, 1, {
        outcomes: late,
        segment: aSegment('j/late', 0),
        end: { file: null, at: aTime },
      }),
    ).toBe(false);
    expect(
      await stores.store.batches.recordOutcomes(batch, 2, { outcomes: { 0: aSuccess(2) } }),
    ).toBe(false);
    expect(await partsOf(batch)).toEqual([aSegment('j/right', 0)]);
  });

  test('a worker is superseded as soon as its batch is queued again', async () => {
    const batch = await storeClaimedBatch(stores.store, 1);
    await releaseBatch(stores.store, { ...batch, attempt: 1 }, aTime);
    expect(
      await stores.store.batches.recordOutcomes(batch, 1, {
        outcomes: { 0: aSuccess() },
        end: { file: null, at: aTime },
      }),
    ).toBe(false);
    expect(
      await stores.store.batches.recordOutcomes(batch, 1, { outcomes: { 0: aSuccess() } }),
    ).toBe(false);
  });

  test('segments of several attempts remain until one attempt ends the batch with its own segment', async () => {
    const batch = await storeClaimedBatch(stores.store, 3);
    await stores.store.batches.recordOutcomes(batch, 1, {
      outcomes: { 0: aSuccess(1) },
      segment: aSegment('j/1', 0),
    });
    await stores.store.batches.claim(batch, 1, aTime + 60_001, aTime + 120_000);
    const second = { 0: aSuccess(2), 1: aSuccess(2) };
    await stores.store.batches.recordOutcomes(batch, 2, {
      outcomes: second,
      segment: aSegment('j/2', 0, 1),
    });
    expect(await reread(batch)).toMatchObject({
      outcomes: { 0: aSuccess(1), 1: aSuccess(2) },
      segments: [aSegment('j/1', 0), aSegment('j/2', 1)],
    });
    await stores.store.batches.recordOutcomes(batch, 2, {
      outcomes: { 2: aFailure },
      end: { file: null, at: aTime },
    });
    expect(await partsOf(batch)).toEqual([aSegment('j/1', 0), aSegment('j/2', 1)]);
  });

  test('batches of a job are failed by state, and their workers are superseded', async () => {
    const { job, batches } = await storeJob(stores.store, 4);
    await stores.store.batches.queue(job.id, 3, aTime);
    for (const batch of batches.slice(0, 2))
      await stores.store.batches.claim(batch, 0, aTime, aTime + 500);
    await stores.store.batches.recordOutcomes(batches[0]!, 1, {
      outcomes: { 1: aSuccess() },
      segment: aSegment('j/kept', 1),
    });
    await stores.store.batches.recordOutcomes(batches[1]!, 1, {
      outcomes: { 0: aSuccess(), 1: aSuccess() },
      end: { file: null, at: aTime },
    });
    const stop: Outcome = { status: 'FAILED', code: 'terminated', message: 'stopped by its user' };
    const fail = (states: OutstandingState[]) =>
      stores.store.batches.fail(job.id, states, stop, aTime);
    expect(await fail(['waiting'])).toBe(2);
    expect(await fail(['waiting'])).toBe(0);
    expect(await hasOutstanding(stores.store, job.id)).toBe(true);
    expect(await fail(['queued', 'claimed', 'waiting'])).toBe(3);
    expect(await hasOutstanding(stores.store, job.id)).toBe(false);
    const late = stores.store.batches.recordOutcomes(batches[0]!, 1, {
      outcomes: { 0: aSuccess() },
      segment: aSegment('j/late', 0),
      end: { file: null, at: aTime },
    });
    expect(await late).toBe(false);
    const ended = await collect(stores.store.batches.read(job.id));
    expect(ended.map(({ success, failed, state }) => [success, failed, state])).toEqual([
      [1, 1, 'done'],
      [2, 0, 'done'],
      [0, 2, 'done'],
      [0, 2, 'done'],
    ]);
    expect(ended.map(({ endedAt }) => endedAt)).toEqual([aTime, aTime, aTime, aTime]);
    expect(ended[0]!.outcomes).toEqual({ 0: stop, 1: aSuccess() });
    expect(await partsOf(batches[0]!)).toEqual([aSegment('j/kept', 1)]);
    expect(await stores.store.batches.claim(batches[3]!, 0, aTime, aTime + 1)).toBeNull();
  });

  test('when a job is failed while workers finish, each unit ends once', async () => {
    const { job, batches } = await storeJob(stores.store, 40);
    await stores.store.batches.queue(job.id, 40, aTime);
    for (const batch of batches) await stores.store.batches.claim(batch, 0, aTime, aTime + 500);
    const failing = Promise.all([
      stores.store.batches.fail(job.id, ['claimed'], aFailure, aTime),
      stores.other.batches.fail(job.id, ['claimed'], aFailure, aTime),
    ]);
    const working = runConcurrently(40, stores, (store, turn) =>
      store.batches.recordOutcomes(batches[turn]!, 1, {
        outcomes: { 0: aSuccess(), 1: aSuccess() },
        end: { file: null, at: aTime },
      }),
    );
    const [failed, finished] = await Promise.all([failing, working]);
    const success = 2 * finished.filter((won) => won).length;
    expect(success + failed[0] + failed[1]).toBe(80);
    expect((await countsOf(stores.store, job.id)).units).toEqual({
      total: 80,
      success,
      failed: 80 - success,
    });
  });
}
