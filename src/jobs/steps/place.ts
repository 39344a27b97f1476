import { requireSandbox } from '../../access/test-account.ts';
import { Fault } from '../../contract/fault.ts';
import type { JobOptions } from '../../contract/submit-options.ts';
import { findShortfall } from '../../credits/job-credits.ts';
import type { Plan } from '../../kinds/kind.ts';
import type { Batch, Job, Mode } from '../../store/documents.ts';
import { approvalWaitMs, type JobContext, type StoreUse } from '../context.ts';
import type { Offer } from '../offers.ts';
import { type Estimate, estimate } from '../prices.ts';
import { maxAgeMs, reusedPrice } from '../reuse.ts';
import { findTestExcess, sandboxQueue, testDecisionMs } from '../sandbox.ts';
import { withDestinationIds } from './deliver-to.ts';
import { type FinishSubmitContext, finishSubmit } from './finish-submit.ts';
import { type OptionCheckContext, optionChecks } from './option-checks.ts';

/** Dependencies of this module. */
export type PlaceContext = Pick<JobContext, 'clock' | 'newId' | 'offers' | 'settings'> &
  StoreUse<'createJob' | 'getJob' | 'nextNumber'> &
  RefusalContext &
  FinishSubmitContext;

/** Dependencies of findRefusals(). */
export type RefusalContext = Pick<JobContext, 'disk' | 'queue'> &
  StoreUse<'getApiKey' | 'getUser' | 'listJobs' | 'sumStoredBytes'> &
  OptionCheckContext;

/** `Retry-After` of a submit while the disk is almost full, in milliseconds. */
const diskRetryMs = 30_000;

/** Properties of a job to create. */
interface Draft {
  jobId: string;
  /** Owner of the job, whose account is charged. */
  userId: string;
  /** Mode of the owner's account. */
  mode: Mode;
  /** Key whose credit ceiling the job counts against; null without one. */
  keyId: string | null;
  /** Returns the units. Not called if the job already exists. */
  plan(): Plan | Promise<Plan>;
  retryOf: string | null;
  /** The operator who approved the job in advance; null if its kind decides whether it awaits approval. */
  approvedBy: string | null;
  /** True if a repeated call resumes this job. */
  resumable: boolean;
  options: JobOptions;
}

/** Progress of a submit, which tells what a fault leaves behind. */
interface SubmitProgress {
  /** True from before the first write of the job until it is discarded. */
  jobMayExist: boolean;
}

/**
 * Creates a job and submits it until it awaits approval or runs; resumes one that was already written. Updates
 * `progress`. Faults: `disk_full`, `rate_limited`, `insufficient_credits`, `max_credits_exceeded`, `unavailable`, and those of
 * the plan.
 */
export async function placeJob(
  context: PlaceContext,
  offer: Offer,
  draft: Draft,
  progress: SubmitProgress,
): Promise<Job> {
  const { store } = context;
  if ((await store.getJob(draft.jobId)) === null) {
    const { job, batches } = await prepareJob(context, offer, draft);
    progress.jobMayExist = true;
    await store.createJob(job, batches);
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

/** Returns a job and its batches, to be written, if the service and the user's balance allow it. */
async function prepareJob(
  context: PlaceContext,
  offer: Offer,
  draft: Draft,
): Promise<{ job: Job; batches: Iterable<Batch> }> {
  if (draft.mode === 'test') requireSandbox(context.settings);
  const plan = await draft.plan();
  const size = estimate(context, offer, plan, draft.mode);
  for await (const refusal of findRefusals(context, offer, { ...draft, ...size })) throw refusal;
  const options = await withDestinationIds(context, draft);
  const job = await buildJob(context, offer, plan, size, { ...draft, options });
  return { job, batches: buildBatches(context, offer, plan, job) };
}

/** Yields the faults for which a job is refused, in the order in which a submit reports the first of them. */
export async function* findRefusals(
  { disk, queue, store }: RefusalContext,
  offer: Offer,
  job: Pick<Job, 'userId' | 'mode' | 'keyId' | 'cost' | 'totalUnits' | 'options'>,
): AsyncGenerator<Fault> {
  if (await disk.isLow()) {
    const message = 'No jobs are accepted: the disk of the service is almost full. Nothing was charged.';
    yield new Fault('disk_full', message, { retryAfterMs: diskRetryMs });
  }
  const excess = await findTestExcess(store, job);
  if (excess !== null) yield excess;
  for (const check of optionChecks) {
    const fault = await check({ store }, offer, job);
    if (fault !== null) yield fault;
  }
  const shortfall = await findShortfall(store, job);
  if (shortfall !== null) yield shortfall;
  if (offer.kind.unqueued !== 'refuse') return;
  const unavailable = await queue.ping().then(() => null, Fault.from);
  if (unavailable !== null) yield unavailable;
}

async function buildJob(
  context: PlaceContext,
  offer: Offer,
  plan: Plan,
  size: Estimate,
  { jobId: id, userId, keyId, mode, retryOf, approvedBy, resumable, options }: Draft,
): Promise<Job> {
  const { kind, market } = offer;
  const now = context.clock.now();
  const awaitsApproval = kind.approval && context.settings.approval && !approvedBy;
  const isTest = mode === 'test';
  return {
    id,
    number: kind.sequence === undefined ? null : await context.store.nextNumber(kind.sequence),
    userId,
    keyId,
    mode,
    market: market.name,
    kind: kind.name,
    region: plan.region,
    lane: kind.lane,
    state: 'submitted',
    stateSince: now,
    params: plan.params,
    options,
    ...size,
    reusedUnitPrice: maxAgeMs(options) === null ? null : reusedPrice(context, size.unitPrice),
    refunded: 0,
    createdAt: now,
    resumable,
    decideBy: awaitsApproval ? now + (isTest ? testDecisionMs(plan) : approvalWaitMs) : null,
    decidedBy: approvedBy,
    reason: '',
    startedAt: null,
    finishedAt: null,
    file: null,
    retryOf,
    counts: null,
    hold: null,
    noticeDue: null,
    noticeAt: null,
    filesDeletedAt: null,
    fileDeletionDue: false,
  };
}

function* buildBatches(
  context: PlaceContext,
  { kind, market }: Offer,
  plan: Plan,
  job: Job,
): Generator<Batch> {
  let seq = 0;
  for (const { region, units } of plan.groups) {
    for (let start = 0; start < units.length; start += kind.batchSize) {
      yield {
        id: context.newId(),
        jobId: job.id,
        seq: seq++,
        market: job.mode === 'test' ? sandboxQueue : market.name,
        region,
        lane: kind.lane,
        units: units.slice(start, start + kind.batchSize),
        outcomes: {},
        success: 0,
        failed: 0,
        state: 'waiting',
        attempt: 0,
        queuedAt: null,
        publishedAt: null,
        leaseUntil: null,
        notBefore: null,
        file: null,
        parts: [],
        endedAt: null,
        stalledClaims: 0,
        storedBytes: 0,
        wait: null,
        solo: null,
      };
    }
  }
}
