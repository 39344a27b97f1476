import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { findStores } from '../../test/support/engines/stores.ts';
import { type JobFixture, noon, openJobFixture } from '../../test/support/jobs/jobs.ts';
import { newId } from '../base/id.ts';
import type { JobContext } from '../jobs/context.ts';
import { batchKey } from '../store/batches.ts';
import { aBatch, aJob, units } from '../store/conformance/samples.ts';
import type { Job } from '../store/documents.ts';
import { wrapMethods } from '../store/wrap.ts';
import { sweepMs } from './continue-jobs.ts';
import { shareOf } from './share.ts';
import { sweep } from './sweep.ts';

const dayMs = 24 * 3_600_000;

describe.each(await findStores())('two processes on $name', ({ open }) => {
  let fixture: JobFixture;
  beforeEach(async () => {
    if (open === null) return;
    const retention = { jobsMs: null, deliveriesMs: null, auditLogMs: null, historyMs: null };
    fixture = await openJobFixture({ retention: { ...retention, resultsMs: 10 * dayMs } }, open());
    return () => fixture.close();
  });
  let seen: string[] = [];
  afterEach(() => {
    seen = [];
  });

  /** Stores a job of the first, and one of the second process. */
  const storeJobs = async (fields: Partial<Job>): Promise<[string, string]> => {
    const ids: [string, string] = [`1${newId().slice(1)}`, `9${newId().slice(1)}`];
    for (const id of ids) {
      const job = aJob({ id, market: 'mkta', kind: 'variant_sold', totalBatches: 1, ...fields });
      await fixture.context.store.jobs.create(job, [aBatch(job, 0, units(1))]);
    }
    return ids;
  };

  /** Sweeps as one of two processes, and returns the jobs that it has found. */
  const sweepAs = async (rank: number): Promise<Set<string>> => {
    const store = wrapMethods(fixture.context.store, (name, method) => async (...parameters) => {
      const found = await method(...parameters);
      if (name === 'jobs.claimDue') seen.push(...(found as Job[]).map(({ id }) => id));
      return found;
    });
    const queue: JobContext['queue'] = {
      ...fixture.context.queue,
      publish: async ({ jobId }) => seen.push(`published ${jobId}`) > 0,
    };
    await sweep({ ...fixture.context, store, queue }, undefined, { share: shareOf(rank, 2) });
    return new Set(seen.splice(0));
  };

  test.skipIf(open === null)('check half of the running jobs each', async () => {
    const [one, other] = await storeJobs({ state: 'processing', dueAt: noon });
    expect(await sweepAs(0)).toEqual(new Set([one, `published ${one}`]));
    expect(await sweepAs(1)).toEqual(new Set([other, `published ${other}`]));
    await fixture.clock.advance(sweepMs);
    expect(await sweepAs(1)).toEqual(new Set([other]));
    expect(await sweepAs(0)).toEqual(new Set([one]));
  });

  test.skipIf(open === null)('check the jobs of one that has died within ten seconds', async () => {
    const [one, other] = await storeJobs({ state: 'processing', dueAt: noon });
    await sweepAs(0);
    await sweepAs(1);
    await fixture.clock.advance(sweepMs);
    expect(await sweepAs(0)).toEqual(new Set([one]));
    await fixture.clock.advance(sweepMs);
    expect(await sweepAs(0)).toEqual(new Set([one, other]));
    await fixture.clock.advance(sweepMs);
    expect(await sweepAs(1)).toEqual(new Set([other]));
  });

  test.skipIf(open === null)(
    'publish half of the stalled batches each, or those of both',
    async () => {
      const [one, other] = await storeJobs({ state: 'completed', dueAt: null, finishedAt: noon });
      const { batches } = fixture.context.store;
      const stall = async (jobId: string) => {
        const [queued] = await batches.queue(jobId, 1, noon);
        await batches.claim(batchKey(queued!), 0, noon, noon + 1);
      };
      await stall(one);
      await stall(other);
      await fixture.clock.advance(sweepMs);
      expect(await sweepAs(0)).toEqual(new Set([`published ${one}`]));
      await fixture.clock.advance(sweepMs);
      expect(await sweepAs(0)).toEqual(new Set([`published ${other}`]));
      expect(await sweepAs(1)).toEqual(new Set());
    },
  );

  test.skipIf(open === null)('delete the files of half of the expired jobs each', async () => {
    const [one, other] = await storeJobs({ state: 'completed', dueAt: null, finishedAt: noon });
    const { store, clock } = fixture.context;
    await fixture.clock.advance(10 * dayMs + 1);
    await sweepAs(0);
    expect(await store.jobs.get(one)).toMatchObject({ filesDeletedAt: clock.now() });
    expect(await store.jobs.get(other)).toMatchObject({ filesDeletedAt: null });
    await sweepAs(1);
    expect(await store.jobs.get(other)).toMatchObject({ filesDeletedAt: clock.now() });
  });
});
