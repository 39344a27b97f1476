import { isDeepStrictEqual } from 'node:util';
import { create, type Message } from '@bufbuild/protobuf';
import { createBoundedMap } from '../../base/bounded-map.ts';
import { compareFile } from '../../base/recorded-file.ts';
import { Fault } from '../../contract/fault.ts';
import type { FileConversion } from '../../contract/files.ts';
import type { ResponseHeaders } from '../../contract/response-headers.ts';
import type { JobSnapshot, ViewNeed } from '../../kinds/kind.ts';
import { countsOf, findUnit } from '../../store/batch-store.ts';
import type { Batch } from '../../store/batches.ts';
import type { Where } from '../../store/collection.ts';
import { allOf } from '../../store/cursor.ts';
import type { Job, Role } from '../../store/documents.ts';
import { isAccepted } from '../../store/job-states.ts';
import { findJobByNumber, mergedFileOf } from '../../store/jobs.ts';
import type { JobContext } from '../context.ts';
import { mayHoldFailed, readIndexedBatches, unitsOf } from '../indexed-units.ts';
import type { JobMethod } from '../job-types.ts';
import { readRecord } from '../records.ts';
import { exportFile } from './files.ts';
import { waitingFor } from './progress.ts';
import { requireResults } from './rows.ts';
import { type JobWaitOptions, showWhenChanged, type TaggedView, tagOf } from './watch.ts';

/** Maximum failed units in a snapshot. */
const maxFailures = 100;

/** Fields of a request that identify its job: a UUID, or the integer of some kinds. */
interface Reference {
  jobId?: string;
  taskId?: bigint;
  /** Site of the job, in requests that name one. */
  site?: string;
}

/**
 * Caller of a read: a user, for the jobs of their account, or an operator, for those of every user.
 */
export interface JobReader {
  userId: string;
  role: Role;
}

/**
 * Returns the job that a request identifies. Throws `not_found` for a job that the caller must not
 * see, for one of another kind or market, and for a job whose submission was not finished.
 */
export async function findJob(
  context: JobContext,
  { jobType, market }: JobMethod,
  request: Message,
  { userId, role }: JobReader,
): Promise<Job> {
  const { jobId, taskId, site } = request as Reference;
  const job =
    taskId === undefined
      ? await context.store.jobs.get(jobId!.toLowerCase())
      : await findJobByNumber(context.store, Number(taskId));
  const isShown =
    job !== null &&
    (role === 'operator' || job.userId === userId) &&
    job.market === market.name &&
    serves(context, jobType, job) &&
    (site === undefined || site === job.region);
  if (!isShown || !isAccepted(job)) throw noJob(`${jobId ?? taskId}`);
  return job;
}

/** Returns the fault for a job that does not exist, or that the caller must not see. */
export const noJob = (jobId: string) => new Fault('not_found', `There is no job '${jobId}'.`);

/**
 * Returns true if a method serves the job's kind. The data step serves every kind with a file per
 * unit.
 */
function serves(context: JobContext, jobType: JobMethod['jobType'], job: Job): boolean {
  if (jobType === null) return context.jobTypes.of(job).kind.files.unit !== undefined;
  return job.kind === jobType.kind.name;
}

/** Caller of a read, its wait, and the headers of its response. */
export interface JobReadOptions extends JobWaitOptions, JobReader {
  responseHeaders: ResponseHeaders;
}

/**
 * Returns the method's view of a job, after the wait that `options` requests. Throws `not_found`.
 */
export type ReadView = (
  method: JobMethod,
  request: Message,
  options: JobReadOptions,
) => Promise<Message>;

/** View of an ended job, which is reused for a second. */
interface KeptView {
  /** The job as it was stored. */
  job: Job;
  /** Time in seconds: links of one second are equal. */
  second: number;
  tag: string;
  message: Message;
  bytes: number;
}

/** Memory for views of ended jobs, in bytes. */
const maxKeptBytes = 8 * 1024 * 1024;
/** Estimated memory of a view, and of each batch and failure that it shows, in bytes. */
const partBytes = 1024;

/**
 * Creates the function that returns views. Views of ended jobs without contents of units are reused
 * within a second while the stored job is the same: each call reads it, so that a deletion is seen
 * immediately.
 */
export function createReadView(context: JobContext): ReadView {
  const views = createBoundedMap<KeptView>({
    maxBytes: maxKeptBytes,
    sizeOf: ({ bytes }) => bytes,
  });
  const prepare = async (
    method: JobMethod,
    job: Job,
    request: Message,
    role: Role,
  ): Promise<TaggedView<Message>> => {
    const { needs } = method.jobType!.kind.views[method.view]!;
    if (job.finishedAt === null || !needs.every(isSmall))
      return prepareView(context, method, job, request, role);
    // Links differ by role.
    const key = `${role} ${method.method} ${job.id}`;
    const second = Math.floor(context.clock.now() / 1000);
    let view = views.get(key);
    if (view?.second !== second || !isDeepStrictEqual(view.job, job)) {
      const { tag, snapshot, render } = await prepareView(context, method, job, request, role);
      const parts = 1 + (snapshot.batches?.length ?? 0) + (snapshot.failures?.length ?? 0);
      const message = Object.freeze(await render());
      view = {
        job,
        second,
        tag,
        message,
        bytes: parts * partBytes,
      };
      views.set(key, view);
    }
    const { tag, message } = view;
    return { tag, render: () => message };
  };
  return async (method, request, options) => {
    const job = await findJob(context, method, request, options);
    return showWhenChanged(context, job, options, (current) =>
      prepare(method, current, request, options.role),
    );
  };
}

/** Returns true for a part of a snapshot without contents of units. */
const isSmall = (need: ViewNeed): boolean =>
  need === 'counts' || need === 'batches' || need === 'failures';

/** Returns the method's view of a job for a caller with this role. */
export async function show(
  context: JobContext,
  method: JobMethod,
  job: Job,
  request: Message,
  role: Role,
): Promise<Message> {
  return (await prepareView(context, method, job, request, role)).render();
}

/**
 * Reads the snapshot for the method's view. The tag is known before links are signed and the view
 * is rendered.
 */
async function prepareView(
  context: JobContext,
  { method, jobType, view: name }: JobMethod,
  job: Job,
  request: Message,
  role: Role,
): Promise<TaggedView<Message> & { snapshot: JobSnapshot }> {
  const view = jobType!.kind.views[name]!;
  const snapshot = await snapshotOf(context, job, view.needs, request, role);
  // Every response with the field says what the job waits for, whatever its kind.
  const waiting = method.output.field.waitingFor ? await waitingFor(context, job) : null;
  return {
    snapshot,
    tag: tagOf(context.clock, snapshot, waiting),
    render: async () => {
      const message = await view.show(snapshot);
      if (waiting === null) return create(method.output, message);
      return create(method.output, { ...message, waitingFor: `waiting for ${waiting}` });
    },
  };
}

/** Maximum jobs in a list without pages. */
const maxListed = 10_000;

/**
 * Lists the newest 10,000 of the caller's jobs of the method's kind and market, newest first.
 * Operators get the live jobs of every user.
 */
export async function list(
  context: JobContext,
  { method, jobType, market }: JobMethod,
  { userId, role }: JobReader,
): Promise<Message> {
  const { kind } = jobType!;
  const jobs: Job[] = [];
  const owner: Where<Job> = role === 'operator' ? { mode: 'live' } : { userId };
  const filter = { ...owner, kind: kind.name, market: market.name };
  for await (const job of allOf((page) => context.store.jobs.list(filter, page), 1000)) {
    if (isAccepted(job)) jobs.push(job);
    if (jobs.length === maxListed) break;
  }
  return create(method.output, kind.listed!(jobs));
}

/**
 * Reads the parts of a job that a view needs. Links for operators work without an API key, as those
 * of CreateFileLink do, because operators do not have the key of the owner.
 */
export async function snapshotOf(
  context: JobContext,
  job: Job,
  needs: readonly ViewNeed[],
  request: Message | undefined,
  role: Role,
): Promise<JobSnapshot> {
  const { store, links } = context;
  const file = mergedFileOf(job);
  const snapshot: JobSnapshot = {
    job: file === job.file ? job : { ...job, file },
    link: (file, options) => links.file(job, file, role === 'user' && (options?.bearer ?? false)),
    itemToken: (batch, index) => links.itemToken(job.id, batch.id, index),
  };
  for (const need of needs) {
    if (need === 'counts') snapshot.counts = await countsOf(store, job.id);
    else if (need === 'batches') snapshot.batches = await store.batches.find({ jobId: job.id });
    else if (need === 'units') snapshot.units = await listUnits(context, job);
    else if (need === 'failures') snapshot.failures = await listFailures(context, job, snapshot);
    else if (need === 'only') snapshot.unit = await onlyUnit(context, job);
    else {
      const key = (request as unknown as Record<string, string>)[need.unit]!;
      snapshot.unit = await requestedUnit(context, job, key);
    }
  }
  return snapshot;
}

async function listUnits(
  context: JobContext,
  job: Job,
): Promise<NonNullable<JobSnapshot['units']>> {
  const units = [];
  for await (const batch of context.store.batches.read(job.id)) {
    for (const [index, unit] of batch.units.entries())
      units.push({
        unit,
        outcome: batch.outcomes[index],
        batch,
        index,
      });
  }
  return units;
}

/**
 * Returns up to 100 failures of an ended job, and none of a running job, because that would make
 * polling expensive.
 */
async function listFailures(
  context: JobContext,
  job: Job,
  { counts }: JobSnapshot,
): Promise<Failures> {
  const failures: Failures = [];
  if (job.finishedAt === null || counts!.units.failed === 0) return failures;
  for await (const indexedBatch of readIndexedBatches(context.store, job.id, mayHoldFailed(job))) {
    for (const { unit, outcome, index } of unitsOf(job, indexedBatch)) {
      if (outcome?.status === 'FAILED')
        failures.push({ unit, message: outcome.message, place: index });
      if (failures.length === maxFailures) return failures;
    }
  }
  return failures;
}

type Failures = NonNullable<JobSnapshot['failures']>;

async function onlyUnit(context: JobContext, job: Job): Promise<UnitSnapshot> {
  for await (const batch of context.store.batches.read(job.id))
    return unitSnapshot(context, job, batch, 0);
  throw new Error(`job ${job.id} has no units`);
}

async function requestedUnit(context: JobContext, job: Job, key: string): Promise<UnitSnapshot> {
  const found = await findUnit(context.store, job.id, key);
  if (found === null) throw new Fault('not_found', `The job has no item '${key}'.`);
  return unitSnapshot(context, job, found.batch, found.index);
}

type UnitSnapshot = NonNullable<JobSnapshot['unit']>;

async function unitSnapshot(
  context: JobContext,
  job: Job,
  batch: Batch,
  index: number,
): Promise<UnitSnapshot> {
  const outcome = batch.outcomes[index];
  if (outcome?.status === 'SUCCESS') requireResults(job);
  const payload = outcome?.status === 'SUCCESS' ? await readRecord(context, batch, index) : null;
  return {
    unit: batch.units[index]!,
    outcome,
    batch,
    payload: payload && Buffer.from(payload).toString('utf8'),
  };
}

/** Fields of a request for the result of a unit. */
interface DataRequest extends FileConversion {
  itemToken: string;
}

/** Result of a unit. */
export interface UnitData {
  contentType: string;
  /** File name of a table. Null for the unconverted file. */
  fileName: string | null;
  bytes: AsyncIterable<Uint8Array>;
}

/**
 * Returns the result file of one unit or, with a format, its records as a table. Its token comes
 * from the retrieve response. Throws `malformed` for a token that does not belong to the job,
 * `not_found` if the unit has no result, `results_deleted`, `storage_damaged`, `unavailable` if the
 * file cannot be read, and those of exportFile().
 */
export async function data(
  context: JobContext,
  method: JobMethod,
  request: Message,
  reader: JobReader,
): Promise<UnitData> {
  const { blobs, links } = context;
  const { itemToken, format, only, columns } = request as unknown as DataRequest;
  const job = await findJob(context, method, request, reader);
  requireResults(job);
  const location = links.readItemToken(job.id, itemToken);
  if (location === null)
    throw new Fault(
      'malformed',
      `'${itemToken.slice(0, 80)}' is not the token of an item of this job.`,
    );
  const outcome = await outcomeOf(context, job.id, location);
  if (outcome?.status !== 'SUCCESS' || !outcome.file)
    throw new Fault('not_found', 'This item has no result.');
  const { path, contentType } = outcome.file;
  if ([format, only, columns].some((value) => value !== ''))
    return exportFile(context, path, { format, only, columns });
  const contents = await blobs.read(path).catch(throwUnavailable);
  return { contentType, fileName: null, bytes: compareFile(path, outcome.file, contents) };
}

/**
 * Reports a file that was written but is missing as `unavailable`: the storage is at fault, not the
 * caller.
 */
function throwUnavailable(error: unknown): never {
  const fault = Fault.from(error);
  if (fault.code !== 'not_found') throw fault;
  throw new Fault('unavailable', 'The result of this item could not be fetched.', { cause: error });
}

async function outcomeOf(
  { store }: JobContext,
  jobId: string,
  location: { batchId: string; index: number },
) {
  for await (const batch of store.batches.read(jobId)) {
    if (batch.id === location.batchId) return batch.outcomes[location.index];
  }
  return undefined;
}
