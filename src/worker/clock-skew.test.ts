import { afterEach, beforeEach, expect, test } from 'vitest';
import { type JobFixture, noon, openJobFixture } from '../../test/support/jobs/jobs.ts';
import { type Clock, createSharedClock } from '../base/clock.ts';
import { mkta } from '../markets/mkta/index.ts';
import { createClockRecord } from '../store/clock-record.ts';
import { sweep } from '../sweep/sweep.ts';
import { startWorker } from './worker.ts';

let fixture: JobFixture;
beforeEach(async () => {
  fixture = await openJobFixture({ approval: false });
});
afterEach(() => fixture.close());

/** The clock of a host that is ahead of the store. */
const hostClock = (aheadMs: number): Clock => ({
  now: () => fixture.clock.now() + aheadMs,
  steady: () => fixture.clock.now() + aheadMs,
  sleep: fixture.clock.sleep,
});

/** A clock on that host that follows the store. */
async function sharedClock(aheadMs: number): Promise<Clock> {
  const clock = createSharedClock({
    host: hostClock(aheadMs),
    monotonic: () => fixture.clock.now() - noon,
    readTime: async () => fixture.clock.now(),
    record: createClockRecord(() => fixture.context.store),
    isOneHost: false,
    log: fixture.context.log,
  });
  await clock.synchronize();
  return clock;
}

/**
 * Returns the attempts of a listing that takes two minutes, with one host as worker and another, 20
 * s ahead, as sweeper.
 */
async function attemptsOf(worker: Clock, sweeper: Clock): Promise<number> {
  const { context, clock } = fixture;
  const held = Promise.withResolvers<void>();
  fixture.wrapFetch((fetch) => async (request) => {
    await held.promise;
    return fetch(request);
  });
  const working = await startWorker({ ...context, clock: worker }, [mkta]);
  const userId = await fixture.createUser(100);
  const { jobId } = await fixture.submit(userId, 'SubmitMerchantItems', {
    urls: ['https://mkta.sg/shop/21'],
  });
  for (let step = 0; step < 24; step += 1) {
    await clock.advance(5_000);
    await sweep({ ...context, clock: sweeper });
  }
  held.resolve();
  await fixture.waitForState(jobId, 'completed');
  await working.stop();
  return (await context.store.batches.find({ jobId }))[0]!.attempt;
}

test('a long listing loses its claim, and completes, with host clocks 20 s apart', async () => {
  expect(await attemptsOf(hostClock(0), hostClock(20_000))).toBeGreaterThan(1);
});

test('a long listing completes with one attempt with the clock of the store', async () => {
  expect(await attemptsOf(await sharedClock(0), await sharedClock(20_000))).toBe(1);
});
