import { create } from '@bufbuild/protobuf';
import { afterEach, describe, expect, test } from 'vitest';
import { JobService } from '../../gen/gleaner/job/v1/job_pb.ts';
import { findStores } from '../../test/support/engines/stores.ts';
import { createCrashingProcess, sweptFaultsOn } from '../../test/support/faults/crash.ts';
import {
  type JobFixture,
  openJobFixture,
  variantSoldRequest,
} from '../../test/support/jobs/jobs.ts';
import { newId } from '../base/id.ts';
import type { JobContext } from '../jobs/context.ts';
import { audit } from '../jobs/queries/audit.ts';
import { approve, reject } from '../jobs/steps/decide.ts';
import { deleteFiles, eraseDelayMs, filesExpireAt } from '../jobs/steps/delete.ts';
import { retry } from '../jobs/steps/retry.ts';
import { listAuditEntries } from '../store/audit-log.ts';
import { aKey, storeJob } from '../store/conformance/samples.ts';
import type { Job } from '../store/documents.ts';
import { markUserDeleted } from '../store/users.ts';
import { sweep } from './sweep.ts';

const dayMs = 24 * 3_600_000;
let fixture: JobFixture;
afterEach(() => fixture.close());

/** Submits a job of two units, one of which fails, and waits until it has ended. */
async function endedJob(userId: string): Promise<Job> {
  const { jobId } = await fixture.submit(
    userId,
    'SubmitVariantSold',
    variantSoldRequest(1, '30000000801'),
  );
  await approve(fixture.context, jobId, newId());
  return fixture.waitForState(jobId, 'completed', 'partial_complete');
}

const filesOf = (job: Job) => fixture.context.blobs.listJob(job.id);
const expireAt = (job: Job) => filesExpireAt(fixture.context.settings.retention, job);
const jobOf = ({ id }: Job) => fixture.context.store.jobs.get(id);
const withRetention = (retention: Partial<JobContext['settings']['retention']>) => ({
  retention: {
    resultsMs: null,
    jobsMs: null,
    deliveriesMs: null,
    auditLogMs: null,
    historyMs: null,
    ...retention,
  },
});

describe.each(await findStores())('retention on $name', ({ name, open }) => {
  const openFixture = async (retention: Partial<JobContext['settings']['retention']> = {}) => {
    fixture = await openJobFixture(withRetention(retention), open?.());
    await fixture.startWorker();
    return fixture.createUser(100_000);
  };

  test.skipIf(open === null)('keeps everything by default', async () => {
    const job = await endedJob(await openFixture());
    await fixture.clock.advance(4_000 * dayMs);
    await sweep(fixture.context);
    expect(await jobOf(job)).toMatchObject({ filesDeletedAt: null });
    expect(await filesOf(job)).not.toEqual([]);
    expect(expireAt(job)).toBeNull();
  });

  test.skipIf(open === null)(
    'deletes the files of jobs that ended long ago, and keeps the jobs',
    async () => {
      const userId = await openFixture({ resultsMs: 10 * dayMs });
      const old = await endedJob(userId);
      await fixture.clock.advance(5 * dayMs);
      const recent = await endedJob(userId);
      const { jobId: waiting } = await fixture.submit(
        userId,
        'SubmitVariantSold',
        variantSoldRequest(2),
      );
      expect(expireAt((await fixture.context.store.jobs.get(waiting))!)).toBeNull();
      await fixture.clock.advance(5 * dayMs);
      await sweep(fixture.context);
      expect(await filesOf(old)).not.toEqual([]);
      expect(expireAt(old)).toBe(fixture.clock.now());
      await fixture.clock.advance(1);
      await sweep(fixture.context);
      expect(await filesOf(old)).toEqual([]);
      expect(expireAt((await jobOf(old))!)).toBeNull();
      expect(await jobOf(old)).toEqual({
        ...old,
        filesDeletedAt: fixture.clock.now(),
        noticeDue: old.noticeDue,
      });
      expect(await filesOf(recent)).not.toEqual([]);
      expect(await jobOf(recent)).toMatchObject({ filesDeletedAt: null });
      expect(await fixture.context.store.jobs.get(waiting)).toMatchObject({ filesDeletedAt: null });
      expect(await fixture.problems()).toEqual([]);
    },
  );

  test.skipIf(open === null)(
    'a job whose files cannot be deleted does not block the others',
    async () => {
      await openFixture({ resultsMs: dayMs });
      const { store, blobs } = fixture.context;
      const jobs = [];
      for (let at = 0; at < 210; at += 1) {
        const finishedAt = fixture.clock.now() - 2 * dayMs + at;
        jobs.push((await storeJob(store, 0, { state: 'completed', finishedAt })).job);
      }
      const good = jobs.at(-1)!;
      const removeJob = async (id: string) => {
        if (id !== good.id) throw new Error('broken');
        return blobs.removeJob(id);
      };
      await sweep({ ...fixture.context, blobs: { ...blobs, removeJob } });
      expect(await jobOf(good)).toMatchObject({
        filesDeletedAt: fixture.clock.now(),
        fileDeletionDue: false,
      });
      expect(await jobOf(jobs[0]!)).toMatchObject({ fileDeletionDue: true });
      await sweep(fixture.context);
      expect(await jobOf(jobs[0]!)).toMatchObject({ fileDeletionDue: false });
    },
  );

  test.skipIf(open === null)(
    'deletes jobs that ended long ago, and keeps summaries that agree with the ledger',
    async () => {
      const userId = await openFixture({ jobsMs: 10 * dayMs });
      const [old, balance] = [await endedJob(userId), await fixture.balance(userId)];
      const { jobId: waiting } = await fixture.submit(userId, 'SubmitMerchantItems', {
        urls: ['https://mkta.sg/shop/21'],
      });
      await fixture.clock.advance(10 * dayMs + 1);
      await sweep(fixture.context);
      expect(await jobOf(old)).toBeNull();
      expect(await filesOf(old)).toEqual([]);
      expect(await fixture.context.store.batches.find({ jobId: old.id })).toEqual([]);
      const { success, failed } = old.counts!.units;
      expect(await fixture.context.store.deletedJobs.get(old.id)).toMatchObject({
        success,
        failed,
        cost: old.cost,
      });
      expect(await fixture.context.store.jobs.get(waiting)).toMatchObject({ state: 'rejected' });
      expect(await fixture.balance(userId)).toBe(balance);
      expect(await audit(fixture.context.store)).toMatchObject({
        jobs: 1,
        deletedJobs: 1,
        problems: [],
      });
    },
  );

  test.skipIf(open === null)('a deleted retry does not give its id to the next retry', async () => {
    const userId = await openFixture();
    // Units that did not run can be retried.
    const { jobId } = await fixture.submit(userId, 'SubmitVariantSold', variantSoldRequest(2));
    const source = await reject(fixture.context, jobId, newId(), '');
    const { retryJob } = JobService.method;
    const send = async () => {
      const request = create(retryJob.input, { jobId: source.id });
      const submitter = { userId, mode: 'live' as const, keyId: null, idempotencyKey: undefined };
      const respond = async ({ id: jobId }: Job) => ({ jobId });
      const created = await retry(
        fixture.context,
        retryJob,
        request,
        submitter,
        source,
        newId(),
        respond,
      );
      return fixture.waitForState(created.jobId, 'completed', 'failed', 'partial_complete');
    };
    const first = await send();
    const { success, failed } = first.counts!.units;
    await fixture.context.store.jobs.delete(first.id, {
      ...aSummary(first),
      discount: 0,
      success,
      failed,
      deletedAt: 0,
    });
    const second = await send();
    expect(second.id).not.toBe(first.id);
    expect(await fixture.problems()).toEqual([]);
  });

  test.skipIf(open === null)('deletes old deliveries and audit entries', async () => {
    await openFixture({ deliveriesMs: dayMs, auditLogMs: 2 * dayMs });
    const entry = {
      id: newId(),
      createdAt: fixture.clock.now(),
      actorId: newId(),
      role: 'user' as const,
      keyId: '',
    };
    const rest = { action: 'CreateApiKey', target: '', detail: '{}', source: '', outcome: 'ok' };
    await fixture.context.store.auditLog.insert({ ...entry, ...rest });
    const count = async () =>
      (await listAuditEntries(fixture.context.store, {}, { limit: 5 })).items.length;
    await fixture.clock.advance(2 * dayMs);
    await sweep(fixture.context);
    expect(await count()).toBe(1);
    await fixture.clock.advance(1);
    await sweep(fixture.context);
    expect(await count()).toBe(0);
  });

  describe.each(sweptFaultsOn(name))('a fault at any call to an engine: %s', (when) => {
    /** Lets `act` crash at each of its calls, with a new job each time, and then sweeps. */
    const crashEverywhere = async (
      userId: string,
      act: (context: JobContext, job: Job) => Promise<unknown>,
      check: (job: Job, where: string) => Promise<void>,
    ) => {
      for (let last = 1; ; last += 1) {
        const job = await endedJob(userId);
        const victim = createCrashingProcess(fixture.context, last, when);
        await Promise.race([act(victim.context, job).catch(() => {}), victim.crashed]);
        const where = `call ${last}, ${when} ${victim.crashedAt()}`;
        await sweep(fixture.context);
        await check(job, where);
        if (!victim.isCrashed()) return last;
      }
    };

    test.skipIf(open === null)('leaves no file of a job whose files are deleted', async () => {
      const userId = await openFixture();
      const calls = await crashEverywhere(userId, deleteFiles, async (job, where) => {
        const current = await jobOf(job);
        expect(current?.fileDeletionDue, where).toBe(false);
        const files = await filesOf(job);
        if (current?.filesDeletedAt === null) expect(files, where).not.toEqual([]);
        else expect(files, where).toEqual([]);
      });
      expect(calls).toBe(5);
      expect(await fixture.problems()).toEqual([]);
    });

    test.skipIf(open === null)('leaves nothing of a job that is deleted', async () => {
      const userId = await openFixture({ jobsMs: dayMs });
      const sweepLater = async (context: JobContext) => {
        await fixture.clock.advance(2 * dayMs);
        await sweep(context);
      };
      const calls = await crashEverywhere(userId, sweepLater, async (job, where) => {
        expect(await jobOf(job), where).toBeNull();
        expect(await filesOf(job), where).toEqual([]);
        expect(await fixture.context.store.batches.find({ jobId: job.id }), where).toEqual([]);
      });
      expect(calls).toBeGreaterThan(10);
      expect(await fixture.problems()).toEqual([]);
    });

    test.skipIf(open === null)('leaves nothing of a deleted user but the ledger', async () => {
      await openFixture();
      const { store } = fixture.context;
      for (let last = 1; ; last += 1) {
        const userId = await fixture.createUser(100_000);
        const job = await endedJob(userId);
        await store.apiKeys.insert(aKey({ userId }));
        const { jobId: open } = await fixture.submit(
          userId,
          'SubmitVariantSold',
          variantSoldRequest(2),
        );
        await markUserDeleted(store, userId, fixture.clock.now());
        const victim = createCrashingProcess(fixture.context, last, when);
        for (let round = 0; round < 3 && !victim.isCrashed(); round += 1) {
          await Promise.race([sweep(victim.context).catch(() => {}), victim.crashed]);
          await fixture.clock.advance(eraseDelayMs);
        }
        for (let round = 0; round < 3; round += 1) {
          await fixture.clock.advance(eraseDelayMs);
          await sweep(fixture.context);
        }
        const where = `call ${last}, ${when} ${victim.crashedAt()}`;
        expect(await store.users.get(userId), where).toMatchObject({
          name: 'Deleted user',
          email: '',
          erased: true,
        });
        expect(await store.apiKeys.find({ userId }, { newestFirst: true }), where).toEqual([]);
        expect((await store.jobs.list({ userId }, { limit: 9 })).items, where).toEqual([]);
        expect(await filesOf(job), where).toEqual([]);
        expect(await store.deletedJobs.get(open), where).toMatchObject({ state: 'rejected' });
        if (!victim.isCrashed()) break;
        // Each call of a sweep repeats the previous ones, so a sample of the later ones is enough.
        if (last > 10) last += 9;
      }
      expect(await fixture.problems()).toEqual([]);
    });
  });
});

/** Returns the fields of a job that its summary keeps. */
function aSummary({
  id,
  userId,
  market,
  kind,
  state,
  unitPrice,
  cost,
  refunded,
  totalUnits,
  createdAt,
  finishedAt,
}: Job) {
  return {
    id,
    userId,
    market,
    kind,
    state,
    unitPrice,
    cost,
    refunded,
    totalUnits,
    createdAt,
    finishedAt,
  };
}
