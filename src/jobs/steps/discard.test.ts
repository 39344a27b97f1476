import { fromJson } from '@bufbuild/protobuf';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { findStores } from '../../../test/support/engines/stores.ts';
import { createCrashingProcess } from '../../../test/support/faults/crash.ts';
import { intercept } from '../../../test/support/faults/intercept.ts';
import {
  grant,
  type JobFixture,
  openJobFixture,
  variantSoldRequest,
} from '../../../test/support/jobs/jobs.ts';
import { newId } from '../../base/id.ts';
import { Fault } from '../../contract/fault.ts';
import type { Job } from '../../store/documents.ts';
import { sweep } from '../../sweep/sweep.ts';
import type { JobContext } from '../context.ts';
import { createJobChanges } from '../job-events.ts';
import { approve, reject } from './decide.ts';
import { submit } from './submit.ts';

const credits = 100;
/**
 * Submissions to fail: charged at approval, charged at submission, and of a kind that rejects
 * without a queue.
 */
const submits = [
  {
    name: 'merchant items',
    approval: true,
    method: 'SubmitMerchantItems',
    request: { urls: ['https://mkta.sg/shop/21'] },
  },
  {
    name: 'variant sold',
    approval: false,
    method: 'SubmitVariantSold',
    request: variantSoldRequest(3),
  },
  {
    name: 'product page',
    approval: false,
    method: 'SubmitGetPc',
    request: { region: 'sg', itemId: '30000000001', shopId: '77' },
  },
];
type Submit = (typeof submits)[number];

let fixture: JobFixture;
afterEach(() => fixture.close());
const jobsOf = async (userId: string): Promise<Job[]> =>
  (await fixture.context.store.jobs.list({ userId }, { limit: 9 })).items;
const costOf = (jobs: readonly Job[]) =>
  jobs.reduce((sum, { cost, refunded }) => sum + cost - refunded, 0);

async function send(
  context: JobContext,
  { method, request }: Submit,
  userId: string,
  key?: string,
) {
  const found = context.jobTypes.methods.get(`gleaner.mkta.v1.MktaService.${method}`)!;
  const message = fromJson(found.method.input, request as never);
  return submit(context, found, message, {
    userId,
    mode: 'live' as const,
    keyId: null,
    idempotencyKey: key,
  });
}

/** Sweeps as a live process does, long enough to finish all interrupted steps. */
async function recover(): Promise<void> {
  for (let round = 0; round < 3; round++) {
    await fixture.clock.advance(61_000);
    await sweep(fixture.context);
  }
}

/**
 * Advances the clock until the process has undone a failed submission. The first attempt also fails
 * if MongoDB itself does not answer for a moment, as on a busy machine; then the process tries
 * again every second.
 */
async function waitForUndo(userId: string, where: string): Promise<void> {
  await fixture.eventually(`${where}: the submission is undone`, async () => {
    if ((await jobsOf(userId)).every(({ finishedAt }) => finishedAt !== null)) return true;
    await fixture.clock.advance(1_000);
    return false;
  });
}

/** Asserts that nothing of a failed submission runs or costs anything. */
async function expectNothing(userId: string, where: string): Promise<void> {
  if (fixture.context.store.engine !== 'SQLite') await waitForUndo(userId, where);
  const jobs = await jobsOf(userId);
  for (const job of jobs) {
    expect(job, where).toMatchObject({ refunded: job.cost });
    // Terminated if it was dispatched before the submission was undone, which depends on the speed
    // of the machine.
    expect(['failed', 'terminated'], where).toContain(job.state);
  }
  expect(await fixture.balance(userId), where).toBe(credits);
}

describe.each(await findStores())('on $name', ({ name, open }) => {
  // The steps of the kinds differ, not what they do with an engine.
  const tried = name === 'SQLite' ? submits : submits.slice(0, 1);
  describe.skipIf(open === null).each(tried)(
    'submitting $name without an idempotency key',
    (one) => {
      beforeEach(async () => {
        fixture = await openJobFixture({ approval: one.approval }, open?.());
      });

      test.each(['before', 'after'] as const)(
        'costs nothing if it fails %s any call to the store took effect',
        async (when) => {
          let failed = 0;
          for (let last = 1; ; last += 1) {
            const userId = await fixture.createUser(credits);
            let where = '';
            const context = intercept(fixture.context, async ({ number, name }, run) => {
              if (number !== last) return run();
              where = `failure ${when} call ${number}, ${name}`;
              if (when === 'after') await run();
              throw new Fault('unavailable', 'The store is away.');
            });
            const sent = await Promise.allSettled([send(context, one, userId)]);
            if (where === '') break;
            const accepted = sent[0]!.status === 'fulfilled';
            if (!accepted) {
              failed += 1;
              await expectNothing(userId, where);
            } else await recover();
            expect(await fixture.balance(userId), where).toBe(
              credits - costOf(await jobsOf(userId)),
            );
          }
          expect(failed).toBeGreaterThan(3);
          expect(await fixture.problems()).toEqual([]);
        },
      );

      test.each(['before', 'after'] as const)(
        'costs nothing if the store is unavailable from %s any call on, and then recovers',
        async (when) => {
          let failed = 0;
          for (let last = 1; ; last += 1) {
            const userId = await fixture.createUser(credits);
            let where = '';
            let away = true;
            const context = intercept(fixture.context, async ({ number, name }, run) => {
              if (number < last || !away) return run();
              where ||= `failure ${when} call ${number}, ${name}`;
              if (when === 'after' && number === last) await run();
              throw new Fault('unavailable', 'The store is away.');
            });
            const sent = await Promise.allSettled([send(context, one, userId)]);
            if (where === '') break;
            away = false;
            await recover();
            if (sent[0]!.status === 'rejected') {
              failed += 1;
              await expectNothing(userId, where);
            }
            expect(await fixture.balance(userId), where).toBe(
              credits - costOf(await jobsOf(userId)),
            );
          }
          expect(failed).toBeGreaterThan(3);
          expect(await fixture.problems()).toEqual([]);
        },
      );

      test('costs nothing if many fail during an outage, which one loop undoes', async () => {
        const userId = await fixture.createUser(10 * credits);
        let away = false;
        const context = intercept(fixture.context, async ({ name }, run) => {
          away ||= name === 'jobs.move';
          if (away) throw new Fault('unavailable', 'The store is away.');
          return run();
        });
        const before = fixture.clock.sleepers();
        const draft = { ...context, changes: createJobChanges(fixture.clock) };
        for (let count = 0; count < 5; count++) {
          away = false;
          await expect(send(draft, one, userId)).rejects.toThrow();
        }
        expect(fixture.clock.sleepers() - before).toBe(1);
        away = false;
        draft.changes.stop();
        await recover();
        expect(await fixture.balance(userId)).toBe(10 * credits);
      });

      test.each(['before', 'after'] as const)(
        'leaves a complete job or none if the process crashes %s any call',
        async (when) => {
          let last = 1;
          let discarded = 0;
          for (; ; last += 1) {
            const userId = await fixture.createUser(credits);
            const victim = createCrashingProcess(fixture.context, last, when);
            await Promise.race([send(victim.context, one, userId).catch(() => {}), victim.crashed]);
            if (!victim.isCrashed()) break;
            await recover();
            const where = `death at call ${last}, ${when} ${victim.crashedAt()}`;
            const jobs = await jobsOf(userId);
            if (jobs.length === 0) discarded += 1;
            for (const { state } of jobs)
              expect(['submitted', 'discarding'], where).not.toContain(state);
            expect(await fixture.balance(userId), where).toBe(credits - costOf(jobs));
          }
          expect(discarded).toBeGreaterThan(2);
          expect(await fixture.problems()).toEqual([]);
        },
      );

      test.each(['before', 'after'] as const)(
        'fails and costs nothing if it is suspended %s any call and the sweep discards it',
        async (when) => {
          let discarded = 0;
          for (let last = 1; ; last += 1) {
            const userId = await fixture.createUser(credits);
            const frozen = Promise.withResolvers<string>();
            const thaw = Promise.withResolvers<void>();
            const context = intercept(fixture.context, async ({ number, name }, run) => {
              const response = number === last && when === 'before' ? undefined : await run();
              if (number !== last) return response;
              frozen.resolve(`frozen at call ${number}, ${when} ${name}`);
              await thaw.promise;
              return when === 'before' ? run() : response;
            });
            const sent = send(context, one, userId).then(
              () => 'accepted',
              (error: Fault) => error.code,
            );
            const where = await Promise.race([frozen.promise, sent]);
            if (where === 'accepted') break;
            await recover();
            const gone = (await jobsOf(userId)).length === 0;
            thaw.resolve();
            const response = await sent;
            if (response !== 'accepted') {
              expect(response, where).toBe('unavailable');
              if (gone) discarded += 1;
              await expectNothing(userId, where);
            }
            await recover();
            expect(await fixture.balance(userId), where).toBe(
              credits - costOf(await jobsOf(userId)),
            );
          }
          expect(discarded).toBeGreaterThan(2);
          expect(await fixture.problems()).toEqual([]);
        },
      );
    },
  );

  describe.skipIf(open === null)('a charge concurrent with the end of its job', () => {
    const start = async () => {
      fixture = await openJobFixture({ approval: true }, open?.());
    };

    test('a submission short of credits is accepted once if the sweep charges it after a grant', async () => {
      await start();
      const userId = await fixture.createUser(credits);
      const [one] = submits;
      const context = intercept(fixture.context, async ({ name }, run) => {
        if (name === 'ledger.post') {
          await grant(fixture.context, userId, -credits);
          const refused = await run();
          await grant(fixture.context, userId, credits);
          await fixture.clock.advance(31_000);
          await sweep(fixture.context);
          return refused;
        }
        return run();
      });
      await send(context, one!, userId, 'key');
      await send(fixture.context, one!, userId, 'key');
      const jobs = await jobsOf(userId);
      expect(jobs.map(({ state }) => state)).toEqual(['awaiting_approval']);
      expect(await fixture.balance(userId)).toBe(credits - jobs[0]!.cost);
      expect(await fixture.problems()).toEqual([]);
    });

    test('an approval suspended before its charge charges nothing after a rejection', async () => {
      await start();
      const userId = await fixture.createUser(credits);
      const { jobId } = await fixture.submit(userId, 'SubmitVariantSold', variantSoldRequest(3));
      const context = intercept(fixture.context, async ({ name }, run) => {
        if (name === 'ledger.post') {
          await grant(fixture.context, userId, -credits);
          await fixture.clock.advance(31_000);
          await sweep(fixture.context);
          await reject(fixture.context, jobId, newId(), 'No.');
          await grant(fixture.context, userId, credits);
        }
        return run();
      });
      await expect(approve(context, jobId, newId())).rejects.toMatchObject({ code: 'conflict' });
      expect(await fixture.context.store.jobs.get(jobId)).toMatchObject({
        state: 'rejected',
        refunded: 0,
      });
      expect(await fixture.balance(userId)).toBe(credits);
      expect(await fixture.problems()).toEqual([]);
    });

    test('an approval whose response is lost is completed once', async () => {
      await start();
      const userId = await fixture.createUser(credits);
      const { jobId } = await fixture.submit(userId, 'SubmitVariantSold', variantSoldRequest(3));
      const context = intercept(fixture.context, async ({ name }, run) => {
        const response = await run();
        if (name === 'ledger.post') throw new Fault('unavailable', 'The store is away.');
        return response;
      });
      await expect(approve(context, jobId, newId())).rejects.toMatchObject({ code: 'unavailable' });
      await expect(approve(fixture.context, jobId, newId())).rejects.toMatchObject({
        code: 'conflict',
      });
      await recover();
      expect(await fixture.context.store.jobs.get(jobId)).toMatchObject({ state: 'processing' });
      expect(await fixture.balance(userId)).toBe(credits - 30);
      expect(await fixture.problems()).toEqual([]);
    });
  });
});

describe('a submission without an idempotency key', () => {
  const [, one] = submits;

  test('is undone by its own process once the store recovers', async () => {
    fixture = await openJobFixture({ approval: false });
    const userId = await fixture.createUser(credits);
    let isAway = false;
    let isBack = false;
    const context = intercept(fixture.context, async ({ name }, run) => {
      isAway ||= name === 'jobs.move';
      if (isAway && !isBack) throw new Fault('unavailable', 'The store is away.');
      return run();
    });
    await expect(send(context, one!, userId)).rejects.toMatchObject({ code: 'unavailable' });
    for (let second = 0; second < 3; second += 1) await fixture.clock.advance(1_000);
    expect(await jobsOf(userId)).toMatchObject([{ state: 'submitted' }]);
    isBack = true;
    await fixture.clock.advance(1_000);
    expect(await jobsOf(userId)).toEqual([]);
    expect(await fixture.balance(userId)).toBe(credits);
  });

  test('is terminated with a reason if it runs when its caller gets an error', async () => {
    fixture = await openJobFixture({ approval: false });
    const userId = await fixture.createUser(credits);
    let failing = true;
    const context = intercept(fixture.context, async ({ name }, run) => {
      const result = await run();
      if (!failing || name !== 'jobs.move') return result;
      failing = false;
      await fixture.clock.advance(31_000);
      await sweep(fixture.context);
      expect(await jobsOf(userId)).toMatchObject([{ state: 'processing' }]);
      throw new Fault('unavailable', 'The store is away.');
    });
    await expect(send(context, one!, userId)).rejects.toMatchObject({ code: 'unavailable' });
    expect(await jobsOf(userId)).toMatchObject([
      { state: 'terminated', reason: 'The submit failed.' },
    ]);
    expect(await fixture.balance(userId)).toBe(credits);
  });
});
