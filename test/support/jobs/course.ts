import { create, fromJson } from '@bufbuild/protobuf';
import { expect } from 'vitest';
import { SubmitOptionsSchema } from '../../../gen/gleaner/job/v1/submit_options_pb.ts';
import { testAccountId } from '../../../src/access/principal.ts';
import { filesOfJob } from '../../../src/backup/copy-files.ts';
import { newId, sha256 } from '../../../src/base/id.ts';
import type { SubmitOptionValues } from '../../../src/contract/submit-options.ts';
import { track } from '../../../src/history/tracker.ts';
import type { JobContext } from '../../../src/jobs/context.ts';
import { qualityOf } from '../../../src/jobs/queries/units.ts';
import { readRecords } from '../../../src/jobs/records.ts';
import { approve, cancel, decideDue, reject, terminate } from '../../../src/jobs/steps/decide.ts';
import { submit } from '../../../src/jobs/steps/submit.ts';
import { work } from '../../../src/jobs/steps/work.ts';
import type { Kind } from '../../../src/kinds/kind.ts';
import { kinds } from '../../../src/kinds/list.ts';
import { hasOutstanding } from '../../../src/store/batch-store.ts';
import type { BatchReference } from '../../../src/store/batches.ts';
import { aKey } from '../../../src/store/conformance/samples.ts';
import type { ApiKey, Job, JobState, StoredFile } from '../../../src/store/documents.ts';
import type { Store } from '../../../src/store/store.ts';
import { newTrackingRun } from '../../../src/store/tracking-run.ts';
import { sweep } from '../../../src/sweep/sweep.ts';
import type { CrashingProcess } from '../faults/crash.ts';
import { readBatchFile } from './batch-files.ts';
import { type JobFixture, openJobFixture, variantSoldRequest } from './jobs.ts';

/**
 * A job's course from its submission to its end, including client, operator, and worker actions.
 */
export interface Course {
  name: string;
  approval: boolean;
  /** True if steps of the course call engines concurrently. */
  isConcurrent?: true;
  /** True if the job is one of a test account, which has no credits. */
  isTest?: true;
  method: string;
  request: object;
  options?: SubmitOptionValues;
  /** Actions on a job in one of these states. */
  step?: { on: readonly JobState[]; run(context: JobContext, job: Job): Promise<unknown> };
  /** Allowed final states, with the charged and refunded credits. */
  ends: Partial<Record<JobState, (job: Job) => { charged: number; refunded: number }>>;
  /** Records in the merged file. Null if there is none. */
  records: number | null;
}

const credits = 2_000;
const operatorId = newId();
const items = variantSoldRequest(6, '30000000801');
const unitCount = items.items.length;
const csv = [
  'region,shop_id,item_id',
  ...items.items.map(({ itemId, shopId }) => `sg,${shopId},${itemId}`),
].join('\n');
const methodOf = (context: JobContext, name: string) =>
  context.jobTypes.methods.get(`gleaner.mkta.v1.MktaService.${name}`)!;

const approved: Course['step'] = {
  on: ['awaiting_approval'],
  run: (context, job) => approve(context, job.id, operatorId),
};
const rejected: Course['step'] = {
  on: ['awaiting_approval'],
  run: (context, job) => reject(context, job.id, operatorId, 'Not today.'),
};
const decided: Course['step'] = {
  on: ['awaiting_approval'],
  run: (context, job) => decideDue(context, job),
};
const terminated: Course['step'] = {
  on: ['processing'],
  run: async (context, job) => {
    const method = methodOf(context, 'TerminateGetPcBulk');
    await terminate(context, method, fromJson(method.method.input, { taskId: job.number }), {
      userId: job.userId,
      role: 'user',
    });
  },
};
const cancelled = (on: JobState): NonNullable<Course['step']> => ({
  on: [on],
  run: (context, job) => cancel(context, job.id, { operatorId: null, reason: '' }),
});
const oneFailed = ({ cost, unitPrice }: Job) => ({ charged: cost, refunded: unitPrice });
/** Reused units cost half. */
const allReused = (job: Job) => {
  const discount = (job.unitPrice - job.reusedUnitPrice!) * job.counts!.units.reused!;
  return { charged: job.cost, refunded: discount };
};
/** One unit failed, and reused units cost half. */
const someReused = (job: Job) => {
  const { charged, refunded } = allReused(job);
  return { charged, refunded: job.unitPrice + refunded };
};
const allGivenBack = ({ cost }: Job) => ({ charged: cost, refunded: cost });
const neverCharged = () => ({ charged: 0, refunded: 0 });

export const courses: readonly Course[] = [
  {
    name: 'variant sold, approved',
    approval: true,
    method: 'SubmitVariantSold',
    request: items,
    step: approved,
    ends: { completed: oneFailed },
    records: unitCount,
  },
  {
    name: 'variant sold, reusing records',
    approval: false,
    method: 'SubmitVariantSold',
    request: items,
    options: { maxAge: '1h' },
    ends: { completed: someReused },
    records: unitCount,
  },
  {
    name: 'variant sold, tracked',
    approval: false,
    method: 'SubmitVariantSold',
    request: items,
    options: { track: 'daily' },
    ends: { completed: oneFailed },
    records: unitCount,
  },
  {
    name: 'variant sold of a test account, decided by the sweep',
    approval: true,
    isTest: true,
    method: 'SubmitVariantSold',
    request: items,
    step: decided,
    ends: { completed: neverCharged },
    records: unitCount,
  },
  {
    name: 'variant sold of a test account, rejected by its first unit',
    approval: true,
    isTest: true,
    method: 'SubmitVariantSold',
    request: { ...items, items: [{ itemId: '20000000990', shopId: '77' }] },
    step: decided,
    ends: { rejected: neverCharged },
    records: null,
  },
  {
    name: 'variant sold, rejected',
    approval: true,
    method: 'SubmitVariantSold',
    request: items,
    step: rejected,
    ends: { rejected: neverCharged },
    records: null,
  },
  {
    name: 'merchant items, rejected after the charge',
    approval: true,
    method: 'SubmitMerchantItems',
    request: { urls: ['https://mkta.sg/shop/21', 'https://mkta.sg/shop/22'] },
    step: rejected,
    ends: { rejected: allGivenBack },
    records: null,
  },
  {
    name: 'merchant items, reusing files',
    approval: false,
    isConcurrent: true,
    method: 'SubmitMerchantItems',
    request: { urls: ['https://mkta.sg/shop/21', 'https://mkta.sg/shop/22'] },
    options: { maxAge: '1h' },
    ends: { completed: allReused },
    records: null,
  },
  {
    name: 'product pages by CSV, terminated',
    approval: true,
    isConcurrent: true,
    method: 'SubmitGetPcBulk',
    request: { file: Buffer.from(csv).toString('base64') },
    step: terminated,
    ends: { terminated: allGivenBack, partial_complete: oneFailed },
    records: unitCount,
  },
  {
    name: 'product pages by CSV, cancelled',
    approval: true,
    method: 'SubmitGetPcBulk',
    request: { file: Buffer.from(csv).toString('base64') },
    step: cancelled('processing'),
    ends: { terminated: allGivenBack, partial_complete: oneFailed },
    records: unitCount,
  },
  {
    name: 'merchant items, cancelled while they wait',
    approval: true,
    method: 'SubmitMerchantItems',
    request: { urls: ['https://mkta.sg/shop/21', 'https://mkta.sg/shop/22'] },
    step: cancelled('awaiting_approval'),
    ends: { rejected: allGivenBack },
    records: null,
  },
];

/**
 * Limits batches to a sixteenth of their size, so that a job of a few units has several batches.
 */
const withSmallBatches = (kind: Kind): Kind => ({
  ...kind,
  batchSize: Math.ceil(kind.batchSize / 16),
});

/** Opens a fixture for a course, on the given store or on SQLite in memory. */
export const openCourseFixture = ({ approval }: Course, store?: Store): Promise<JobFixture> =>
  openJobFixture({ approval }, store, kinds.map(withSmallBatches));

/** A process with a fault, whose calls go to a context with a queue that only collects messages. */
export type CreateVictim = (alive: JobContext) => Omit<CrashingProcess, 'kill'>;

/** Returns the course of this name. */
export const courseNamed = (wanted: string): Course => courses.find(({ name }) => name === wanted)!;

/** Takes jobs through a course, one after the other. */
export interface CourseRunner {
  /**
   * Takes a job through the course in a process with a fault, lets other processes end it, and
   * checks the invariants of every job. Returns false if the course ended without the fault.
   * `where` names the fault.
   */
  survives(where: string, createVictim: CreateVictim): Promise<boolean>;
}

/** Creates a runner on a fixture of openCourseFixture(). */
export function createCourseRunner(fixture: JobFixture, course: Course): CourseRunner {
  let messages: BatchReference[] = [];
  const alive: JobContext = {
    ...fixture.context,
    queue: { ...fixture.context.queue, publish: async (message) => messages.push(message) > 0 },
  };
  const { signal } = new AbortController();

  /** Processes all queued messages. */
  const workOff = async (context: JobContext): Promise<void> => {
    for (let message = messages.shift(); message !== undefined; message = messages.shift())
      await work(context, message, () => {}, signal);
  };

  const jobOf = async (userId: string): Promise<Job | null> => {
    const { items: found } = await alive.store.jobs.list({ userId }, { limit: 2 });
    expect(found.length, 'jobs of the user').toBeLessThan(2);
    return found[0] ?? null;
  };

  const createTestAccount = async (): Promise<string> => {
    const { store } = alive;
    const live = (await store.users.get(await fixture.createUser(0)))!;
    const id = testAccountId(live.id);
    await store.users.insert({ ...live, id, testOf: live.id });
    return id;
  };

  /** Compares the job of the user, if it is tracked and has ended. */
  const compare = async ({ store, ...others }: JobContext, userId: string): Promise<void> => {
    const job = await jobOf(userId);
    const run = job && newTrackingRun(job);
    if (!run) return;
    await store.trackingRuns.insert({ ...run, activeUser: null });
    while (await track({ store, ...others }, signal));
  };

  /** Performs the remaining client and operator actions. */
  const goThrough = async (
    context: JobContext,
    { userId, id: keyId }: ApiKey,
    idempotencyKey: string,
  ): Promise<void> => {
    const job = await jobOf(userId);
    if (job === null || job.state === 'submitted') {
      const method = methodOf(context, course.method);
      const request = fromJson(method.method.input, course.request as never);
      const options = create(SubmitOptionsSchema, course.options ?? {});
      const mode = course.isTest ? ('test' as const) : ('live' as const);
      await submit(context, method, request, { userId, mode, keyId, idempotencyKey, options });
    }
    const submitted = (await jobOf(userId))!;
    if (course.step?.on.includes(submitted.state)) await course.step.run(context, submitted);
    await workOff(context);
    await compare(context, userId);
  };

  /**
   * Advances the clock: messages of the dead process are lost, and the sweep runs, again while
   * something of the user's job is due.
   */
  const recover = async (userId: string): Promise<void> => {
    messages = [];
    for (let round = 0; round < 3; round++) {
      await fixture.clock.advance(61_000);
      await sweep(alive);
      await workOff(alive);
      const job = await jobOf(userId);
      if (job !== null && job.dueAt === null) return;
    }
  };

  /** Returns the files of a job's units. */
  const unitFilesOf = async ({ id }: Job): Promise<StoredFile[]> => {
    const batches = await Array.fromAsync(alive.store.batches.read(id));
    return batches.flatMap(({ outcomes }) =>
      Object.values(outcomes).flatMap((outcome) =>
        outcome.status === 'SUCCESS' && outcome.file ? [outcome.file] : [],
      ),
    );
  };

  /**
   * Checks that the files of a job are those that it refers to, and that its records and the files
   * of its batches can be read.
   */
  const checkStored = async (job: Job, where: string): Promise<void> => {
    const referenced = new Set((await filesOfJob(alive.store, job)).keys());
    expect(new Set(await alive.blobs.listJob(job.id)), where).toEqual(referenced);
    // Only a batch that was cancelled while it was read keeps segments.
    if (job.state === 'completed' && job.file !== null)
      expect([...referenced], where).toEqual([job.file.path]);
    for await (const batch of alive.store.batches.read(job.id)) {
      for await (const [, record] of readRecords(alive, batch))
        expect(record.length, where).toBeGreaterThan(0);
      if (batch.file === null) continue;
      const contents = await readBatchFile(alive, batch.file);
      expect(sha256(contents.toString()), where).toBe(batch.file.sha256);
    }
  };

  const check = async (limited: ApiKey, own: number, where: string): Promise<void> => {
    const { userId } = limited;
    const job = (await jobOf(userId))!;
    expect(Object.keys(course.ends), where).toContain(job.state);
    const { charged, refunded } = course.ends[job.state]!(job);
    expect(job.refunded, where).toBe(refunded);
    expect(await fixture.balance(userId), where).toBe(own - charged + refunded);
    expect((await alive.store.apiKeys.get(limited.id))?.creditsSpent, where).toBe(
      charged - refunded,
    );
    expect(await hasOutstanding(alive.store, job.id), where).toBe(false);
    expect(job.file?.items ?? null, where).toBe(course.records);
    const { records } = await qualityOf(alive, job);
    const files = await unitFilesOf(job);
    const entries = files.reduce((sum, { items: count }) => sum + count, 0);
    expect(records, where).toBe(files.length > 0 ? entries : job.counts?.units.success);
    for (const { path, bytes } of job.file ? [job.file, ...files] : files)
      expect(await alive.blobs.size(path), where).toBe(bytes);
    await checkStored(job, where);
    if (newTrackingRun(job) === null) return;
    const run = (await alive.store.trackingRuns.get(job.id))!;
    expect([run.stage, run.counts.new], where).toEqual(['done', records]);
    const { length: observed } = await alive.store.observations.find({ userId }, { order: [] });
    expect(observed, where).toBe(records);
  };

  return {
    async survives(where, createVictim) {
      const own = course.isTest ? 0 : credits;
      const userId = course.isTest ? await createTestAccount() : await fixture.createUser(own);
      const limited = aKey({ userId, creditCeiling: credits });
      await alive.store.apiKeys.insert(limited);
      const victim = createVictim(alive);
      const key = newId();
      const going = goThrough(victim.context, limited, key).catch(() => {});
      await fixture.outlast(Promise.race([going, victim.crashed]), victim.isCrashed);
      if (!victim.isCrashed()) return false;
      await recover(userId);
      await goThrough(alive, limited, key);
      await recover(userId);
      await check(limited, own, `${where}: ${victim.crashedAt()}`);
      return true;
    },
  };
}
