import { beforeEach, describe, expect, test } from 'vitest';
import { type JobFixture, noon, openJobFixture } from '../../../test/support/jobs/jobs.ts';
import { Fault } from '../../contract/fault.ts';
import { type Batch, type BatchReference, batchKey } from '../../store/batches.ts';
import { aBatch, aJob, units } from '../../store/conformance/samples.ts';
import { replaceMethods } from '../../store/wrap.ts';
import { backOff, deferUntil, releaseClaim } from './release.ts';

const never = new AbortController().signal;
const away = new Fault('unavailable', 'The store is away.');

let fixture: JobFixture;
let published: BatchReference[];
let batch: Batch;
let message: BatchReference;
beforeEach(async () => {
  fixture = await openJobFixture();
  published = [];
  const { store, queue } = fixture.context;
  fixture.context.queue = { ...queue, publish: async (sent) => published.push(sent) > 0 };
  const job = aJob({ totalBatches: 1, totalUnits: 2 });
  await store.jobs.create(job, [aBatch(job, 0, units(2))]);
  const [queued] = await store.batches.queue(job.id, 1, noon);
  const { unitKey: _, ...reference } = queued!;
  message = reference;
  batch = (await store.batches.claim(batchKey(message), 0, noon, noon + 60_000))!;
  return () => fixture.close();
});

const reread = async () =>
  (await Array.fromAsync(fixture.context.store.batches.read(batch.jobId)))[0]!;
/** The context of a process for which the store is unavailable when it releases a batch. */
const withoutRelease = () => ({
  ...fixture.context,
  store: replaceMethods(fixture.context.store, { batches: { update: () => Promise.reject(away) } }),
});
const late = () => ({ ...batch, attempt: batch.attempt + 1 });

describe('releaseClaim()', () => {
  test('queues the batch immediately for the next attempt', async () => {
    await releaseClaim(fixture.context, batch, message);
    expect(await reread()).toMatchObject({ state: 'queued', attempt: 1, stalledClaims: 0 });
    expect(published).toEqual([{ ...message, attempt: 1 }]);
  });

  test('publishes nothing if the claim was lost or the store is unavailable', async () => {
    await releaseClaim(fixture.context, late(), message);
    await releaseClaim(withoutRelease(), batch, message);
    expect(published).toEqual([]);
    expect((await reread()).state).toBe('claimed');
  });
});

describe('backOff()', () => {
  test('publishes the batch after its delay, and keeps its wait', async () => {
    await backOff(fixture.context, batch, message, away, 1, never);
    const wait = (await reread()).wait!;
    expect(wait).toMatchObject({
      since: noon,
      reason: 'storage unavailable',
      tries: {},
      failures: 1,
    });
    expect(wait.until).toBeGreaterThanOrEqual(noon + 1_000);
    expect(wait.until).toBeLessThanOrEqual(noon + 2_000);
    expect(await reread()).toMatchObject({
      state: 'queued',
      stalledClaims: 0,
      notBefore: wait.until,
    });
    await fixture.clock.advance(wait.until - noon - 1);
    expect(published).toEqual([]);
    await fixture.clock.advance(1);
    expect(published).toEqual([{ ...message, attempt: 1 }]);
  });

  test('keeps the attempts so far, and counts an internal fault as a claim without progress', async () => {
    batch.wait = { since: 1, until: 2, reason: 'x', tries: { 1: 4 }, failures: 2 };
    await backOff(fixture.context, batch, message, new Fault('internal', 'a bug'), 3, never);
    expect((await reread()).wait).toMatchObject({
      since: noon,
      reason: 'internal error',
      tries: { 1: 4 },
      failures: 3,
    });
    expect((await reread()).stalledClaims).toBe(1);
  });

  test('does nothing if the claim was lost or the store is unavailable', async () => {
    await backOff(fixture.context, late(), message, away, 1, never);
    await backOff(withoutRelease(), batch, message, away, 1, never);
    await fixture.clock.advance(10_000);
    expect(published).toEqual([]);
    expect((await reread()).wait).toBeNull();
  });
});

describe('deferUntil()', () => {
  const until = noon + 5_000;
  const wait = () => ({
    since: noon,
    until,
    reason: 'mkta/sg: blocked',
    tries: {},
    failures: 0,
  });

  test('keeps the wait, and publishes the batch at its end', async () => {
    await deferUntil(fixture.context, batch, message, wait(), never);
    expect((await reread()).wait).toEqual(wait());
    expect(await reread()).toMatchObject({ state: 'queued', notBefore: until });
    await fixture.clock.advance(4_999);
    expect(published).toEqual([]);
    await fixture.clock.advance(1);
    expect(published).toEqual([{ ...message, attempt: 1 }]);
  });

  test('publishes nothing if the claim was lost', async () => {
    await deferUntil(fixture.context, late(), message, wait(), never);
    await fixture.clock.advance(10_000);
    expect(published).toEqual([]);
  });

  test('publishes nothing after an abort', async () => {
    const stopping = new AbortController();
    await deferUntil(fixture.context, batch, message, wait(), stopping.signal);
    stopping.abort();
    await fixture.clock.advance(10_000);
    expect(published).toEqual([]);
  });
});
