import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { plainIds } from '../../../sandbox/mkta/ids.ts';
import { type JobFixture, noon, openJobFixture } from '../../../test/support/jobs/jobs.ts';
import { flushTasks } from '../../../test/support/time/clock.ts';
import { Fault } from '../../contract/fault.ts';
import { type Batch, type BatchWait, batchKey, type Outcome } from '../../store/batches.ts';
import { aBatch, aJob } from '../../store/conformance/samples.ts';
import { createBatchWriter } from './batch-writer.ts';
import { readIsolated } from './read-batch.ts';

const never = new AbortController().signal;
const hourMs = 3_600_000;
const ids = plainIds(5).map(String);
const [first, second] = ids as [string, string];

let fixture: JobFixture;
/** Faults of pages by item. */
let faults: Map<string, Error>;
beforeEach(async () => {
  fixture = await openJobFixture();
  faults = new Map();
  fixture.wrapFetch((fetch, item) => async (request) => {
    const fault = faults.get(item);
    if (fault) throw fault;
    return fetch(request);
  });
});
afterEach(() => fixture.close());

const paused = (retryAfterMs: number) =>
  new Fault('origin_paused', 'mkta/sg: blocked', { retryAfterMs });
const failed = (code: 'work_abandoned' | 'page_not_found'): Outcome => ({
  status: 'FAILED',
  code,
  message: '',
});

/** A claimed batch of one or more units. */
async function claimed(count: number, fields: Partial<Batch> = {}) {
  const { store } = fixture.context;
  const job = aJob({ kind: 'get_pc_bulk', state: 'processing', region: 'sg', totalUnits: count });
  const units = ids
    .slice(0, count)
    .map((id) => ({ key: id, input: { region: 'sg', shop_id: '77', item_id: id } }));
  await store.jobs.create(job, [aBatch(job, 0, units)]);
  const [message] = await store.batches.queue(job.id, 1, noon);
  const batch = await store.batches.claim(batchKey(message!), 0, noon, noon + hourMs);
  return { job, batch: { ...batch!, stalledClaims: 5, ...fields } };
}

/** Reads a claimed batch's outstanding units. */
function read(
  { job, batch }: Awaited<ReturnType<typeof claimed>>,
  wait: BatchWait | null = null,
  signal = never,
) {
  batch.wait = wait;
  const writer = createBatchWriter(fixture.context, job, batch, signal);
  return readIsolated(fixture.context, job, batch, writer, signal);
}

const waitSince = (since: number, tries = {}): BatchWait => ({
  since,
  until: noon,
  reason: '',
  tries,
  failures: 0,
});

describe('readIsolated()', () => {
  test.each([
    [14, { status: 'SUCCESS' }],
    [
      15,
      {
        status: 'FAILED',
        code: 'work_abandoned',
        message: 'the batch was claimed 14 consecutive times without progress',
      },
    ],
  ])(
    'reads or abandons a unit after %i claims without progress',
    async (stalledClaims, outcome) => {
      const one = await claimed(1, { stalledClaims });
      expect(await read(one)).toEqual({ kind: 'complete' });
      expect(one.batch.outcomes[0]).toMatchObject(outcome);
    },
  );

  test.each([
    ['page_not_found', 'SUCCESS'],
    ['work_abandoned', 'FAILED'],
  ] as const)('reads or abandons a unit after three units failed with %s', async (code, status) => {
    const outcomes = { 0: failed(code), 1: failed(code), 2: failed(code) };
    const one = await claimed(4, { outcomes });
    await read(one);
    expect(one.batch.outcomes[3]).toMatchObject({ status });
  });

  test('keeps the wait of a unit, and does not count the start against it', async () => {
    faults.set(second, paused(60_000));
    const one = await claimed(2);
    expect(await read(one, waitSince(noon - 5_000, { 1: 2 }))).toEqual({
      kind: 'waiting',
      wait: {
        since: noon,
        until: noon + 60_000,
        reason: 'mkta/sg: blocked',
        tries: { 1: 2 },
        failures: 0,
      },
    });
    expect(one.batch.outcomes).toMatchObject({ 0: { status: 'SUCCESS' } });
    expect(one.batch.isolated).toEqual({ index: 1, starts: 0 });
  });

  test('keeps the start of the wait since the last readable unit', async () => {
    faults.set(first, new Fault('page_not_found', 'x'));
    faults.set(second, paused(60_000));
    const reading = await read(await claimed(2), waitSince(noon - 5_000));
    expect(reading).toMatchObject({ kind: 'waiting', wait: { since: noon - 5_000 } });
  });

  test('fails a unit that would wait for more than an hour, or that was attempted six times', async () => {
    faults.set(first, paused(60_000));
    const waiting = await claimed(1);
    expect(await read(waiting, waitSince(noon - hourMs + 30_000))).toEqual({ kind: 'complete' });
    expect(waiting.batch.outcomes[0]).toMatchObject({ status: 'FAILED', code: 'origin_paused' });
    faults.set(first, new Fault('page_blocked', 'x'));
    const tried = await claimed(1);
    expect(await read(tried, waitSince(noon, { 0: 5 }))).toEqual({ kind: 'complete' });
    expect(tried.batch.outcomes[0]).toMatchObject({ status: 'FAILED', code: 'page_blocked' });
  });

  test('sends no request if the claim is lost', async () => {
    const one = await claimed(1);
    one.batch.attempt -= 1;
    expect(await read(one)).toEqual({ kind: 'lost' });
    expect(fixture.requestedItems()).toEqual([]);
  });

  test.each([
    ['an engine that is away', new Fault('unavailable', 'x'), 0],
    ['a full disk', new Fault('unavailable', 'x', { cause: { code: 'ENOSPC' } }), 1],
  ])('after %s', async (_what, fault, starts) => {
    faults.set(first, fault);
    const one = await claimed(1);
    await expect(read(one)).rejects.toBe(fault);
    expect(one.batch.isolated).toEqual({ index: 0, starts });
  });

  test('does not count a start ended by an orderly stop', async () => {
    const stopping = new AbortController();
    fixture.wrapFetch(() => () => {
      stopping.abort(new Error('stopping'));
      return Promise.reject(stopping.signal.reason);
    });
    const one = await claimed(1);
    await expect(read(one, null, stopping.signal)).rejects.toThrow('stopping');
    expect(one.batch.isolated).toEqual({ index: 0, starts: 0 });
  });

  test('reads one unit at a time, also across two batches', async () => {
    const held = Promise.withResolvers<void>();
    fixture.wrapFetch((fetch) => async (request) => {
      await held.promise;
      return fetch(request);
    });
    const reading = [read(await claimed(2)), read(await claimed(2))];
    await flushTasks();
    expect(fixture.requestedItems()).toHaveLength(1);
    held.resolve();
    expect(await Promise.all(reading)).toEqual([{ kind: 'complete' }, { kind: 'complete' }]);
  });
});
