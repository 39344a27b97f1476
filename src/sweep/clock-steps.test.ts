import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  type JobFixture,
  openJobFixture,
  variantSoldRequest,
} from '../../test/support/jobs/jobs.ts';
import { Fault } from '../contract/fault.ts';
import { aDelivery } from '../store/conformance/samples.ts';
import { replaceMethods } from '../store/wrap.ts';
import { observeClockSteps } from './clock-steps.ts';
import { sweepMs } from './continue-jobs.ts';
import { wholeShare } from './share.ts';
import { refill, sweep, sweepForever } from './sweep.ts';

const hour = 3_600_000;
const day = 24 * hour;

let fixture: JobFixture;
beforeEach(async () => {
  fixture = await openJobFixture({ approval: false });
});
afterEach(() => fixture.close());

/** Submits a job of some units, which are read one after the other while the test lets them. */
async function submitHeld() {
  const held = Promise.withResolvers<void>();
  let requests = 0;
  fixture.wrapFetch((fetch) => async (request) => {
    requests += 1;
    await held.promise;
    return fetch(request);
  });
  await fixture.startWorker();
  const userId = await fixture.createUser(1_000);
  const { jobId } = await fixture.submit(userId, 'SubmitVariantSold', variantSoldRequest(2));
  await fixture.eventually('both units are being read', async () => requests === 2);
  return { jobId, release: held.resolve, requests: () => requests };
}

/** Sweeps as a process does, until the function is called. */
function startSweeping() {
  const stopping = new AbortController();
  const sweeping = sweepForever(fixture.context, sweepMs, stopping.signal, async () => wholeShare);
  return async () => {
    stopping.abort(new Error('stop'));
    await sweeping;
  };
}

describe('a step of the clock', () => {
  test.each([-day, -20_000, 20_000, day])(
    'of %d ms neither fails, delays, nor repeats a unit',
    async (ms) => {
      const stop = startSweeping();
      const { jobId, release, requests } = await submitHeld();
      fixture.clock.step(ms);
      for (let round = 0; round < 12; round += 1) await fixture.clock.advance(sweepMs);
      release();
      await fixture.waitForState(jobId, 'completed');
      expect(requests()).toBe(2);
      await stop();
    },
  );

  test('of a day neither rejects jobs that await approval nor deletes results for ten minutes', async () => {
    await fixture.close();
    fixture = await openJobFixture({
      retention: { ...fixture.context.settings.retention, jobsMs: hour },
    });
    const stop = startSweeping();
    const userId = await fixture.createUser(1_000);
    const { jobId } = await fixture.submit(userId, 'SubmitVariantSold', variantSoldRequest(1));
    await fixture.clock.advance(sweepMs);
    fixture.clock.step(day);
    for (let round = 0; round < 4; round += 1) await fixture.clock.advance(sweepMs);
    expect((await fixture.context.store.jobs.get(jobId))!.state).toBe('awaiting_approval');
    fixture.clock.step(-day);
    await fixture.clock.advance(10 * 60_000 + sweepMs);
    expect((await fixture.context.store.jobs.get(jobId))!.state).toBe('awaiting_approval');
    fixture.clock.step(day);
    await fixture.clock.advance(10 * 60_000 + sweepMs);
    expect((await fixture.context.store.jobs.get(jobId))!.state).toBe('rejected');
    await stop();
  });

  test('of a day back is corrected by the next sweep', async () => {
    const stop = startSweeping();
    const userId = await fixture.createUser(1_000);
    await fixture.clock.advance(sweepMs);
    const { jobId } = await fixture.submit(userId, 'SubmitVariantSold', variantSoldRequest(2));
    fixture.clock.step(-day);
    await fixture.clock.advance(sweepMs);
    const { dueAt } = (await fixture.context.store.jobs.get(jobId))!;
    expect(dueAt).toBeLessThanOrEqual(fixture.clock.now() + sweepMs);
    await stop();
  });
});

test('the start of the embedded stack resumes the work of a killed process at once', async () => {
  const { context, clock } = fixture;
  const { store } = context;
  const userId = await fixture.createUser(1_000);
  const { jobId } = await fixture.submit(userId, 'SubmitVariantSold', variantSoldRequest(2));
  const [batch] = await store.batches.find({ jobId });
  await store.batches.claim(batch!, batch!.attempt, clock.steady(), clock.steady() + day);
  const delivery = aDelivery({ nextAttemptAt: clock.steady() + 120_000 });
  await store.deliveries.insert(delivery);
  expect(await refill(context)).toBe(1);
  expect((await store.batches.find({ jobId }))[0]).toMatchObject({
    state: 'queued',
    leaseUntil: null,
  });
  expect((await store.deliveries.get(delivery.id))!.nextAttemptAt).toBe(clock.steady());
});

describe('observeClockSteps()', () => {
  test('reports the first call, and each step until it is handled', async () => {
    const { clock } = fixture;
    const steps = observeClockSteps(clock);
    let runs = 0;
    const run = async () => {
      runs += 1;
    };
    await steps.afterStep(run);
    await steps.afterStep(run);
    expect([runs, steps.sinceMs()]).toEqual([1, Number.POSITIVE_INFINITY]);
    clock.step(-2_000);
    await expect(steps.afterStep(() => Promise.reject(new Error('away')))).rejects.toThrow('away');
    await clock.advance(3_000);
    await steps.afterStep(run);
    await steps.afterStep(run);
    expect([runs, steps.sinceMs()]).toEqual([2, 3_000]);
  });

  test('trusts a clock that runs at a wrong speed again after ten minutes', async () => {
    const { clock } = fixture;
    const steps = observeClockSteps(clock);
    let sinceMs = 0;
    for (let round = 0; round < 120; round += 1) {
      await steps.afterStep(async () => {});
      sinceMs = Math.max(sinceMs, round === 0 ? 0 : steps.sinceMs());
      clock.step(9 * sweepMs);
      await clock.advance(sweepMs);
    }
    expect(sinceMs).toBeGreaterThanOrEqual(590_000);
  });

  test('leaves the sweep running while stored times cannot be read', async () => {
    const { context, clock } = fixture;
    const userId = await fixture.createUser(1_000);
    const { jobId } = await fixture.submit(userId, 'SubmitVariantSold', variantSoldRequest(1));
    await context.store.jobs.move(jobId, ['processing'], 'terminating', clock.now());
    const away = { find: () => Promise.reject(new Fault('unavailable', 'away')) };
    const store = replaceMethods(context.store, { deliveries: away });
    const stopping = new AbortController();
    const sweeping = sweepForever(
      { ...context, store },
      sweepMs,
      stopping.signal,
      async () => wholeShare,
    );
    for (let round = 0; round < 8; round += 1) await clock.advance(sweepMs);
    expect((await context.store.jobs.get(jobId))!.state).toBe('terminated');
    stopping.abort(new Error('stop'));
    await sweeping;
  });

  test('ignores corrections of less than a second', async () => {
    const { clock } = fixture;
    const steps = observeClockSteps(clock);
    await steps.afterStep(async () => {});
    clock.step(900);
    await steps.afterStep(async () => {
      throw new Error('no step');
    });
    expect(steps.sinceMs()).toBe(Number.POSITIVE_INFINITY);
  });
});

test('a step in progress is not resumed right after the clock was set forward', async () => {
  const { context, clock } = fixture;
  const userId = await fixture.createUser(1_000);
  const { jobId } = await fixture.submit(userId, 'SubmitVariantSold', variantSoldRequest(1));
  await context.store.jobs.move(jobId, ['processing'], 'terminating', clock.now());
  clock.step(hour);
  await sweep(context, undefined, { sinceStepMs: 0 });
  expect((await context.store.jobs.get(jobId))!.state).toBe('terminating');
  await sweep(context, undefined, { sinceStepMs: 30_000 });
  expect((await context.store.jobs.get(jobId))!.state).not.toBe('terminating');
});
