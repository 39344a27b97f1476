import { expect, test } from 'vitest';
import type { Batch, Outcome } from '../documents.ts';
import { maxPayloadBytes } from '../outcomes.ts';
import type { OutstandingState } from '../store.ts';
import { aFailure, aPayload, aSuccess, aTime, keepClaimed, keepJob, textOf } from './samples.ts';
import { atOnce, collect, type OpenStores, openedFor } from './stores.ts';

/** Writes of outcomes and payloads, and batches ended from outside. */
export function outcomeContract(open: OpenStores): void {
  const stores = openedFor(open);
  const reread = async (batch: Batch): Promise<Batch> =>
    (await collect(stores.store.readBatches(batch.jobId))).find(({ id }) => id === batch.id)!;
  const texts = async (batch: Batch) =>
    [...(await stores.store.readPayloads(await reread(batch)))].map(([index, body]) => [index, textOf(body)]);

  test('outcomes and payloads are kept, counts follow', async () => {
    const batch = await keepClaimed(stores.store, 3);
    const file = { path: 'j/u', contentType: 'application/json', items: 1, bytes: 9, sha256: '0a' };
    const outcomes: Record<number, Outcome> = { 2: { status: 'SUCCESS', attempt: 1, file }, 0: aFailure };
    expect(await stores.store.recordOutcomes(batch.id, 1, outcomes, [aPayload(2, '{"ü":1}')])).toBe(true);
    expect(await reread(batch)).toEqual({ ...batch, outcomes, success: 1, failed: 1, stalledClaims: 0 });
    expect(await texts(batch)).toEqual([[2, '{"ü":1}']]);
    expect(textOf(await stores.other.readPayload(await reread(batch), 2))).toBe('{"ü":1}');
    expect(await stores.store.readPayload(await reread(batch), 0)).toBeNull();
    expect(await stores.store.readPayload(await reread(batch), 1)).toBeNull();
  });

  test('a payload over the limit is refused as too_large and records nothing', async () => {
    const batch = await keepClaimed(stores.store, 2);
    const large = { index: 0, body: Buffer.alloc(maxPayloadBytes + 1, ' ') };
    const writing = stores.store.recordOutcomes(batch.id, 1, { 0: aSuccess(), 1: aFailure }, [large]);
    await expect(writing).rejects.toMatchObject({ code: 'too_large' });
    expect(await reread(batch)).toEqual(batch);
    const fitting = { index: 0, body: Buffer.alloc(maxPayloadBytes, ' ') };
    expect(await stores.store.recordOutcomes(batch.id, 1, { 0: aSuccess() }, [fitting])).toBe(true);
    expect((await stores.other.readPayload(await reread(batch), 0))?.byteLength).toBe(maxPayloadBytes);
  });

  test('a write that is repeated counts nothing twice, and a unit keeps its first outcome', async () => {
    const batch = await keepClaimed(stores.store, 3);
    await stores.store.recordOutcomes(batch.id, 1, { 0: aSuccess() }, [aPayload(0, 'first')]);
    expect(await stores.store.recordOutcomes(batch.id, 1, { 0: aSuccess() }, [aPayload(0, 'again')])).toBe(
      true,
    );
    const mixed = { 0: aFailure, 1: aSuccess() };
    expect(await stores.store.recordOutcomes(batch.id, 1, mixed, [aPayload(1, 'one')])).toBe(true);
    expect(await reread(batch)).toMatchObject({
      success: 2,
      failed: 0,
      outcomes: { 0: aSuccess(), 1: aSuccess() },
    });
    expect(await texts(batch)).toEqual([
      [0, 'first'],
      [1, 'one'],
    ]);
    expect(await stores.store.recordOutcomes(batch.id, 1, {}, [])).toBe(true);
  });

  test('writes for different units of a batch at once are all kept', async () => {
    const batch = await keepClaimed(stores.store, 20);
    const written = await atOnce(60, stores, (store, turn) =>
      store.recordOutcomes(batch.id, 1, { [turn % 20]: turn % 2 ? aFailure : aSuccess() }, [
        aPayload(turn % 20, 'x'),
      ]),
    );
    expect(new Set(written)).toEqual(new Set([true]));
    expect(await reread(batch)).toMatchObject({ success: 10, failed: 10 });
    expect(Object.keys((await reread(batch)).outcomes)).toHaveLength(20);
  });

  test('a finished batch is done; finishing again under the same attempt says so and changes nothing', async () => {
    const batch = await keepClaimed(stores.store, 2);
    const file = { path: 'j/b', contentType: 'application/json', items: 1, bytes: 9, sha256: '0a' };
    await stores.store.recordOutcomes(batch.id, 1, { 0: aSuccess() }, [aPayload(0, 'zero')]);
    const finish = (outcome: Outcome) =>
      stores.store.finishBatch(batch.id, 1, { 0: outcome, 1: outcome }, [aPayload(1, 'one')], file, aTime);
    expect(await finish(aSuccess())).toBe(true);
    const done = {
      ...batch,
      outcomes: { 0: aSuccess(), 1: aSuccess() },
      success: 2,
      state: 'done',
      leaseUntil: null,
      file,
      endedAt: aTime,
      stalledClaims: 0,
    };
    expect(await reread(batch)).toEqual(done);
    expect(await finish(aFailure)).toBe(true);
    expect(await reread(batch)).toEqual(done);
    expect(await texts(batch)).toEqual([
      [0, 'zero'],
      [1, 'one'],
    ]);
    expect(await stores.store.hasPending(batch.jobId)).toBe(false);
  });

  test('a batch with an outstanding unit does not end, and a unit that is not there has no outcome', async () => {
    const batch = await keepClaimed(stores.store, 3);
    const short = stores.store.finishBatch(batch.id, 1, { 0: aSuccess(), 2: aFailure }, [], null, aTime);
    await expect(short).rejects.toMatchObject({ code: 'internal' });
    const outside = stores.store.recordOutcomes(batch.id, 1, { 3: aSuccess() }, []);
    await expect(outside).rejects.toMatchObject({ code: 'internal' });
    expect(await reread(batch)).toEqual(batch);
  });

  test('a late worker writes nothing', async () => {
    const batch = await keepClaimed(stores.store, 1);
    await stores.other.claimBatch(batch.id, 1, aTime + 60_001, aTime + 120_000);
    const late = { 0: aSuccess(1) };
    expect(await stores.store.recordOutcomes(batch.id, 1, late, [aPayload(0, 'late')])).toBe(false);
    expect(await stores.store.finishBatch(batch.id, 1, late, [aPayload(0, 'late')], null, aTime)).toBe(false);
    expect(await stores.store.renewBatch(batch.id, 1, aTime + 999_999)).toBe(false);
    expect(await reread(batch)).toMatchObject({ attempt: 2, outcomes: {}, success: 0, state: 'claimed' });
    expect(
      await stores.other.finishBatch(batch.id, 2, { 0: aSuccess(2) }, [aPayload(0, 'right')], null, aTime),
    ).toBe(true);
    expect(await stores.store.finishBatch(batch.id, 1, late, [aPayload(0, 'late')], null, aTime)).toBe(false);
    expect(await stores.store.recordOutcomes(batch.id, 2, { 0: aSuccess(2) }, [])).toBe(false);
    expect(await texts(batch)).toEqual([[0, 'right']]);
  });

  test('a worker is late as soon as its batch is queued again', async () => {
    const batch = await keepClaimed(stores.store, 1);
    await stores.store.releaseBatch(batch.id, 1, aTime);
    expect(await stores.store.finishBatch(batch.id, 1, { 0: aSuccess() }, [], null, aTime)).toBe(false);
    expect(await stores.store.recordOutcomes(batch.id, 1, { 0: aSuccess() }, [])).toBe(false);
  });

  test('payloads of several attempts stay with their outcomes', async () => {
    const batch = await keepClaimed(stores.store, 2);
    await stores.store.recordOutcomes(batch.id, 1, { 0: aSuccess(1) }, [aPayload(0, 'of attempt 1')]);
    await stores.store.claimBatch(batch.id, 1, aTime + 60_001, aTime + 120_000);
    const second = { 0: aSuccess(2), 1: aSuccess(2) };
    await stores.store.finishBatch(
      batch.id,
      2,
      second,
      [aPayload(0, 'no'), aPayload(1, 'of attempt 2')],
      null,
      aTime,
    );
    expect(await texts(batch)).toEqual([
      [0, 'of attempt 1'],
      [1, 'of attempt 2'],
    ]);
  });

  test('a batch that was read before an outcome was written knows no payload of it', async () => {
    const batch = await keepClaimed(stores.store, 1);
    await stores.store.finishBatch(batch.id, 1, { 0: aSuccess() }, [aPayload(0, 'x')], null, aTime);
    expect((await stores.store.readPayloads(batch)).size).toBe(0);
    expect(await stores.store.readPayload(batch, 0)).toBeNull();
  });

  test('large payloads come back byte by byte', async () => {
    const batch = await keepClaimed(stores.store, 5);
    const bodies = [3_000_000, 1_500_000, 0, 1, 5_000_000].map((size, at) => Buffer.alloc(size, `é${at}`));
    const outcomes = Object.fromEntries(bodies.map((_, index) => [index, aSuccess()]));
    const payloads = bodies.map((body, index) => ({ index, body }));
    expect(await stores.store.finishBatch(batch.id, 1, outcomes, payloads, null, aTime)).toBe(true);
    const read = await stores.other.readPayloads(await reread(batch));
    expect([...read.keys()]).toEqual([0, 1, 2, 3, 4]);
    for (const [index, body] of bodies.entries()) expect(Buffer.compare(read.get(index)!, body)).toBe(0);
  });

  test('batches of a job are failed by state, and their workers are late', async () => {
    const { job, batches } = await keepJob(stores.store, 4);
    await stores.store.queueBatches(job.id, 3, aTime);
    for (const batch of batches.slice(0, 2)) await stores.store.claimBatch(batch.id, 0, aTime, aTime + 500);
    await stores.store.recordOutcomes(batches[0]!.id, 1, { 1: aSuccess() }, [aPayload(1, 'kept')]);
    await stores.store.finishBatch(batches[1]!.id, 1, { 0: aSuccess(), 1: aSuccess() }, [], null, aTime);
    const stop: Outcome = { status: 'FAILED', code: 'terminated', message: 'stopped by its user' };
    const fail = (states: OutstandingState[]) => stores.store.failBatches(job.id, states, stop, aTime);
    expect(await fail(['waiting'])).toBe(2);
    expect(await fail(['waiting'])).toBe(0);
    expect(await stores.store.hasPending(job.id)).toBe(true);
    expect(await fail(['queued', 'claimed', 'waiting'])).toBe(3);
    expect(await stores.store.hasPending(job.id)).toBe(false);
    const late = stores.store.finishBatch(
      batches[0]!.id,
      1,
      { 0: aSuccess() },
      [aPayload(0, 'late')],
      null,
      aTime,
    );
    expect(await late).toBe(false);
    const ended = await collect(stores.store.readBatches(job.id));
    expect(ended.map(({ success, failed, state }) => [success, failed, state])).toEqual([
      [1, 1, 'done'],
      [2, 0, 'done'],
      [0, 2, 'done'],
      [0, 2, 'done'],
    ]);
    expect(ended.map(({ endedAt }) => endedAt)).toEqual([aTime, aTime, aTime, aTime]);
    expect(ended[0]!.outcomes).toEqual({ 0: stop, 1: aSuccess() });
    expect(await texts(batches[0]!)).toEqual([[1, 'kept']]);
    expect(await stores.store.claimBatch(batches[3]!.id, 0, aTime, aTime + 1)).toBeNull();
  });

  test('of a failing job and its workers each unit is ended by one', async () => {
    const { job, batches } = await keepJob(stores.store, 40);
    await stores.store.queueBatches(job.id, 40, aTime);
    for (const { id } of batches) await stores.store.claimBatch(id, 0, aTime, aTime + 500);
    const failing = Promise.all([
      stores.store.failBatches(job.id, ['claimed'], aFailure, aTime),
      stores.other.failBatches(job.id, ['claimed'], aFailure, aTime),
    ]);
    const working = atOnce(40, stores, (store, turn) =>
      store.finishBatch(batches[turn]!.id, 1, { 0: aSuccess(), 1: aSuccess() }, [], null, aTime),
    );
    const [failed, finished] = await Promise.all([failing, working]);
    const success = 2 * finished.filter((won) => won).length;
    expect(success + failed[0] + failed[1]).toBe(80);
    expect((await stores.store.countJob(job.id)).units).toEqual({ total: 80, success, failed: 80 - success });
  });
}
