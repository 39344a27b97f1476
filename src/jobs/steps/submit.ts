import { create, type Message } from '@bufbuild/protobuf';
import { requireSandbox } from '../../access/test-account.ts';
import { Fault } from '../../contract/fault.ts';
import { type JobOptions, jobOptionsOf } from '../../contract/submit-options.ts';
import type { Plan } from '../../kinds/kind.ts';
import { newBatch } from '../../store/batch-store.ts';
import type { Batch } from '../../store/batches.ts';
import type { Job, JobState } from '../../store/documents.ts';
import { dueOnEntry, statesBefore } from '../../store/job-states.ts';
import type { JobPatch } from '../../store/jobs.ts';
import { nextNumber } from '../../store/submissions.ts';
import { approvalWaitMs, type JobContext } from '../context.ts';
import { chargeJob, type Estimate, estimate, refundJob } from '../credits.ts';
import type { JobMethod, ResolvedJobType } from '../job-types.ts';
import { keepPagesMs } from '../kept-pages.ts';
import { missingOriginWarning } from '../origins.ts';
import { snapshotOf } from '../queries/read.ts';
import { findRefusals, quoteJob, readDestinations } from '../quote.ts';
import { maxAgeMs, reusedPrice } from '../reuse.ts';
import { sandboxQueue, testDecisionMs } from '../sandbox.ts';
import { stopRunning } from './decide.ts';
import { failUnqueued, tryDispatch } from './dispatch.ts';
import {
  abandonSubmission,
  beginSubmission,
  completeSubmission,
  type Submitter,
} from './idempotency.ts';

/**
 * Creates a job from a validated request, once per idempotency key (docs/jobs.md). Throws
 * `invalid`, `insufficient_credits`, `max_credits_exceeded`, `conflict`, `unavailable`. After a
 * fault without an idempotency key, no job and no charge remain; with one, an interrupted
 * submission may be resumed, and the same key returns its job. `warn` is called if the job is
 * accepted but units of it cannot be read. With the option `validate_only`, returns the quote of
 * the job, and writes nothing.
 */
export async function submit(
  context: JobContext,
  { method, jobType: offered }: JobMethod,
  request: Message,
  submitter: Submitter,
  warn: (text: string) => void = () => {},
): Promise<Message> {
  const jobType = offered!;
  const { kind, market } = jobType;
  let planned: Plan | undefined;
  const plan = async () => {
    planned ??= await kind.plan(request, method.input, market);
    return planned;
  };
  const { userId, mode, keyId, options, approvedBy = null, schedule = null } = submitter;
  // A repeated submit returns the first response without planning, but warns like the first.
  const addWarning = async () => {
    const warning = missingOriginWarning(context, market, await plan());
    // Test jobs need no origin.
    if (warning !== null && mode === 'live') warn(warning);
  };
  if (options?.validateOnly) {
    const caller = {
      userId,
      mode,
      keyId,
      options: jobOptionsOf(options),
    };
    const quote = await quoteJob(context, jobType, await plan(), caller);
    return create(method.output, { quote });
  }
  const id = submitter.jobId ?? context.newId();
  const submission = await beginSubmission(context, method, request, submitter, id);
  if (submission.response !== null) {
    await addWarning();
    return submission.response;
  }
  const { jobId, key } = submission;
  let response: Message;
  try {
    const draft = {
      jobId,
      userId,
      mode,
      keyId,
      plan,
      schedule,
      approvedBy,
      retryOf: null,
      rereadOf: null,
      resumable: key !== null,
      options: jobOptionsOf(options),
    };
    const job = await placeJob(context, jobType, draft, submission);
    const snapshot = await snapshotOf(context, job, kind.submittedNeeds, undefined, 'user');
    response = await completeSubmission(context, submission, await kind.submitted(snapshot));
  } catch (error) {
    if (key !== null) await abandonSubmission(context, submission);
    else if (submission.jobMayExist) await undoSubmit(context, jobId);
    throw error;
  }
  await addWarning();
  return response;
}

/** Properties of a job that its caller determines. */
type CallerProperties =
  | ('userId' | 'mode' | 'keyId')
  | ('retryOf' | 'rereadOf' | 'schedule' | 'resumable' | 'options');

export interface JobDraft extends Pick<Job, CallerProperties> {
  jobId: string;
  /** Returns the units. Not called if the job already exists. */
  plan(): Plan | Promise<Plan>;
  /**
   * The operator who approved the job in advance. Null if its kind decides whether it awaits
   * approval.
   */
  approvedBy: string | null;
}

/** Progress of a submission, which determines what to undo after a fault. */
interface SubmitProgress {
  /** True from before the first write of the job until it is discarded. */
  jobMayExist: boolean;
}

/**
 * Creates a job and submits it until it awaits approval or runs; resumes one that was already
 * written. Updates `progress`. Throws `disk_full`, `rate_limited`, `insufficient_credits`,
 * `max_credits_exceeded`, `unavailable`, and the faults of the plan.
 */
export async function placeJob(
  context: JobContext,
  jobType: ResolvedJobType,
  draft: JobDraft,
  progress: SubmitProgress,
): Promise<Job> {
  const { store } = context;
  if ((await store.jobs.get(draft.jobId)) === null) {
    const { job, batches } = await prepareJob(context, jobType, draft);
    progress.jobMayExist = true;
    await store.jobs.create(job, batches);
  }
  try {
    const job = await finishSubmit(context, draft.jobId);
    if (job !== null) return job;
  } catch (error) {
    if (Fault.from(error).code === 'insufficient_credits') progress.jobMayExist = false;
    throw error;
  }
  progress.jobMayExist = false;
  throw new Fault(
    'unavailable',
    'The submit took too long and was discarded. Nothing was charged; submit again.',
  );
}

/**
 * Builds a job and its batches, which are not written yet. Throws if the service or the balance of
 * the user does not allow the job.
 */
async function prepareJob(
  context: JobContext,
  jobType: ResolvedJobType,
  draft: JobDraft,
): Promise<{ job: Job; batches: Iterable<Batch> }> {
  if (draft.mode === 'test') requireSandbox(context.settings);
  const plan = await draft.plan();
  const size = estimate(context, jobType, plan, { ...draft, isReread: draft.rereadOf !== null });
  for await (const refusal of findRefusals(context, jobType, { ...draft, ...size })) throw refusal;
  const options = withDefaults(context, jobType, draft, await withDestinationIds(context, draft));
  const job = await buildJob(context, jobType, plan, size, { ...draft, options });
  return { job, batches: buildBatches(context, jobType, plan, job) };
}

/** Returns the options of a job with the ids of its destinations instead of their names. */
async function withDestinationIds(
  context: JobContext,
  job: Pick<Job, 'userId' | 'options'>,
): Promise<JobOptions> {
  const { deliverTo: _, ...otherOptions } = job.options;
  const { ids } = await readDestinations(context, job);
  if (ids.length === 0) return otherOptions;
  return { ...otherOptions, deliverTo: ids.join(',') };
}

/** Adds the defaults that the marketplace has for options. */
function withDefaults(
  { settings }: JobContext,
  { market }: ResolvedJobType,
  { mode, rereadOf }: Pick<JobDraft, 'mode' | 'rereadOf'>,
  options: JobOptions,
): JobOptions {
  const keepPages = settings.origins.get(market.name)?.keepPages;
  if (keepPages === undefined || mode === 'test' || rereadOf !== null) return options;
  return { keepPages, ...options };
}

async function buildJob(
  context: JobContext,
  jobType: ResolvedJobType,
  plan: Plan,
  size: Estimate,
  { jobId: id, plan: _, approvedBy, ...draftFields }: JobDraft,
): Promise<Job> {
  const { kind, market } = jobType;
  const now = context.clock.now();
  const keepMs = keepPagesMs(draftFields.options);
  const awaitsApproval = kind.approval && context.settings.approval && !approvedBy;
  const decisionMs = draftFields.mode === 'test' ? testDecisionMs(plan) : approvalWaitMs;
  return {
    ...draftFields,
    ...size,
    id,
    number: kind.sequence === undefined ? null : await nextNumber(context.store, kind.sequence),
    market: market.name,
    kind: kind.name,
    region: plan.region,
    lane: kind.lane,
    state: 'submitted',
    stateSince: now,
    dueAt: dueOnEntry({ state: 'submitted', decideBy: null }, now),
    params: plan.params,
    reusedUnitPrice:
      maxAgeMs(draftFields.options) === null ? null : reusedPrice(context, size.unitPrice),
    refunded: 0,
    createdAt: now,
    decideBy: awaitsApproval ? now + decisionMs : null,
    decidedBy: approvedBy,
    reason: '',
    startedAt: null,
    finishedAt: null,
    file: null,
    counts: null,
    hold: null,
    noticeDue: null,
    noticeAt: null,
    filesDeletedAt: null,
    fileDeletionDue: false,
    pagesUntil: keepMs === null ? null : now + keepMs,
  };
}

function* buildBatches(
  context: JobContext,
  { kind, market }: ResolvedJobType,
  plan: Plan,
  job: Job,
): Generator<Batch> {
  let seq = 0;
  for (const { region, units } of plan.groups) {
    for (let start = 0; start < units.length; start += kind.batchSize) {
      yield newBatch({
        id: context.newId(),
        jobId: job.id,
        seq: seq++,
        market: job.mode === 'test' ? sandboxQueue : market.name,
        region,
        lane: kind.lane,
        units: units.slice(start, start + kind.batchSize),
      });
    }
  }
}

/**
 * Continues a submission from the state `submitted`: charges the job if its kind charges at submit,
 * then queues it or lets it await approval. The sweep also calls this for submissions interrupted
 * by a crash. Returns null if the job was discarded. Throws `insufficient_credits` after discarding
 * the job.
 */
export async function finishSubmit(context: JobContext, jobId: string): Promise<Job | null> {
  const { store, clock } = context;
  const job = await store.jobs.get(jobId);
  if (job === null || job.state === 'discarding') return null;
  if (job.state !== 'submitted') return job;
  if (!(await chargeSubmit(context, job))) return currentOf(context, jobId);
  const now = clock.now();
  const waits = job.decideBy !== null;
  const next = waits
    ? await store.jobs.move(jobId, ['submitted'], 'awaiting_approval', now, noticeOf(job, now))
    : await store.jobs.move(jobId, ['submitted'], 'approved', now);
  if (next === null) return currentOf(context, jobId);
  if (waits) {
    context.log.info(
      {
        jobId,
        userId: job.userId,
        kind: job.kind,
        market: job.market,
        cost: job.cost,
      },
      'job awaits approval',
    );
    return next;
  }
  const dispatched = await tryDispatch(context, next);
  return dispatched === 'unqueued' ? failUnqueued(context, next) : next;
}

/**
 * Returns the notice to operators about a job that awaits approval. Test jobs are not their
 * concern.
 */
function noticeOf({ mode }: Job, now: number): JobPatch {
  if (mode === 'test') return {};
  return { noticeDue: 'awaiting_approval', noticeAt: now };
}

/** Returns a job that another process continued, or null if it was discarded. */
async function currentOf({ store }: JobContext, jobId: string): Promise<Job | null> {
  const job = await store.jobs.get(jobId);
  return job?.state === 'discarding' ? null : job;
}

/**
 * Charges a job if its kind charges at submit. Returns false if another process accepted or
 * discarded the job. Throws `insufficient_credits` after discarding it.
 */
async function chargeSubmit(context: JobContext, job: Job): Promise<boolean> {
  const { kind } = context.jobTypes.of(job);
  if (kind.charge !== 'submit' && job.decideBy !== null) return true;
  try {
    await chargeJob(context.store, job, context.clock.now());
    return true;
  } catch (error) {
    const { code } = Fault.from(error);
    // `conflict`: a job with this id was discarded before.
    const isFinal = code === 'insufficient_credits' || code === 'conflict';
    const discarded = isFinal && (await discardSubmitted(context, job.id));
    if (code === 'conflict' || (isFinal && !discarded)) return false;
    throw error;
  }
}

/** Time between attempts to undo a submission while the store is unavailable, in milliseconds. */
const undoRetryMs = 1_000;

/**
 * Discards a job whose submission failed before it was accepted, or that is still in one of the
 * states `from`: refunds its charge and removes it. Returns false and does nothing if another call
 * has accepted the job. The sweep also calls this, for submissions that cannot be resumed.
 */
export async function discardSubmitted(
  context: JobContext,
  jobId: string,
  from: readonly JobState[] = ['submitted'],
): Promise<boolean> {
  const job = await context.store.jobs.move(jobId, from, 'discarding', context.clock.now());
  if (job !== null) await finishDiscard(context, job);
  return job !== null;
}

/** Refunds and removes a job in the state `discarding`. Idempotent. */
export async function finishDiscard({ store, clock, log }: JobContext, job: Job): Promise<void> {
  const refunded = await refundJob(store, job, job.cost, clock.now());
  if (await store.jobs.delete(job.id, null))
    log.warn({ jobId: job.id, userId: job.userId, refunded }, 'submit discarded');
}

/** Failed submissions of each process that are not undone yet. */
const pending = new WeakMap<object, Set<string>>();

/**
 * Undoes a submission that failed and that its caller cannot repeat under the same job id. While
 * the store is unavailable, retries in the background until the process stops; then the sweep takes
 * over.
 */
async function undoSubmit(context: JobContext, jobId: string): Promise<void> {
  if (await tryUndo(context, jobId)) return;
  const jobIds = pending.get(context.changes) ?? new Set();
  pending.set(context.changes, jobIds);
  jobIds.add(jobId);
  if (jobIds.size === 1) void undoPending(context, jobIds);
}

/** Undoes the failed submissions of the process one after the other, in a single loop. */
async function undoPending(context: JobContext, jobIds: Set<string>): Promise<void> {
  const { signal } = new AbortController();
  while (jobIds.size > 0 && !context.changes.stopped) {
    const [first] = jobIds;
    await context.changes.next(first!, undoRetryMs, signal);
    for (const jobId of jobIds) {
      if (context.changes.stopped || !(await tryUndo(context, jobId))) break;
      jobIds.delete(jobId);
    }
  }
}

async function tryUndo(context: JobContext, jobId: string): Promise<boolean> {
  try {
    // The last step may have succeeded without an acknowledgement: then the job already waits or
    // runs.
    if (!(await discardSubmitted(context, jobId, statesBefore('discarding'))))
      await stopRunning(context, jobId, 'The submit failed.');
    return true;
  } catch (error) {
    context.log.warn({ jobId, error: Fault.from(error).message }, 'submit not undone yet');
    return false;
  }
}
