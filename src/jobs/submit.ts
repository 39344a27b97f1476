import type { Message } from '@bufbuild/protobuf';
import { Fault } from '../contract/fault.ts';
import { chargeJob, creditsShort } from '../credits/job-credits.ts';
import type { Plan } from '../kinds/kind.ts';
import type { Batch, Job } from '../store/documents.ts';
import { approvalWaitMs, type JobContext, type StoreUse } from './context.ts';
import { type DiscardContext, discardSubmitted, undoSubmit } from './discard.ts';
import { type DispatchContext, failUnqueued, tryDispatch } from './dispatch.ts';
import { type IdempotencyContext, type JobCreation, runIdempotently, type Submitter } from './idempotency.ts';
import { missingOriginWarning } from './missing-origins.ts';
import type { JobMethod, Offer } from './offers.ts';
import { unitPrice } from './prices.ts';
import { type ReadContext, snapshotOf } from './read.ts';

/** Dependencies of this module. */
export type SubmitContext = Pick<
  JobContext,
  'clock' | 'disk' | 'log' | 'newId' | 'offers' | 'queue' | 'settings'
> &
  StoreUse<'createJob' | 'getJob' | 'getUser' | 'moveJob' | 'nextNumber' | 'postLedgerEntry'> &
  DiscardContext &
  DispatchContext &
  IdempotencyContext &
  ReadContext;

/**
 * Creates a job from a validated request, once per idempotency key (docs/jobs.md). Faults:
 * `invalid`, `insufficient_credits`, `conflict`, `unavailable`. After a fault without an idempotency key, no job and
 * no charge remain; with one, an interrupted submit may be resumed, and the same key returns its job.
 * `warn` is called if the job is accepted but units of it cannot be read.
 */
export async function submit(
  context: SubmitContext,
  { method, offer: offered }: JobMethod,
  request: Message,
  submitter: Submitter,
  warn: (text: string) => void = () => {},
): Promise<Message> {
  const offer = offered!;
  const { kind, market } = offer;
  const resumable = submitter.idempotencyKey !== undefined;
  const planUnits = () => kind.plan(request, method.input, market);
  let plan: Plan | undefined;
  const submitted = await runIdempotently(
    context,
    method,
    request,
    submitter,
    context.newId(),
    async (creation) => {
      let written = false;
      const writing = () => {
        written = true;
        creation.writing();
      };
      try {
        const draft: Draft = {
          userId: submitter.userId,
          plan: async () => {
            plan = await planUnits();
            return plan;
          },
          retryOf: null,
          approvedBy: null,
          resumable,
        };
        const job = await placeJob(context, offer, { ...creation, writing }, draft);
        return kind.submitted(await snapshotOf(context, job, kind.submittedNeeds, undefined));
      } catch (error) {
        if (written && !resumable) await undoSubmit(context, creation.jobId);
        throw error;
      }
    },
  );
  // A repeated submit returns the first response without planning, but warns like the first.
  const warning = missingOriginWarning(context, market, plan ?? (await planUnits()));
  if (warning !== null) warn(warning);
  return submitted;
}

/** `Retry-After` of a submit while the disk is almost full, in milliseconds. */
const diskRetryMs = 30_000;

/** Properties of a job to create. */
export interface Draft {
  /** Owner of the job, whose account is charged. */
  userId: string;
  /** Returns the units. Not called if the job already exists. */
  plan(): Plan | Promise<Plan>;
  retryOf: string | null;
  /** The operator who approved the job in advance; null if its kind decides whether it awaits approval. */
  approvedBy: string | null;
  /** True if a repeated call resumes this job. */
  resumable: boolean;
}

/**
 * Creates a job and submits it until it awaits approval or runs; resumes one that was already written. Faults:
 * `disk_full`, `insufficient_credits`, `unavailable`, and those of the plan. After a fault, no job remains.
 */
export async function placeJob(
  context: SubmitContext,
  offer: Offer,
  { jobId, writing, discarded }: JobCreation,
  draft: Draft,
): Promise<Job> {
  const existing = await context.store.getJob(jobId);
  if (existing === null) {
    if (await context.disk.isLow()) {
      const message = 'No jobs are accepted: the disk of the service is almost full. Nothing was charged.';
      throw new Fault('disk_full', message, { retryAfterMs: diskRetryMs });
    }
    const plan = await draft.plan();
    const job = await buildJob(context, offer, plan, draft, jobId);
    const balance = (await context.store.getUser(draft.userId))?.balance ?? 0;
    if (balance < job.cost) throw creditsShort(job.cost, balance);
    if (offer.kind.unqueued === 'refuse') await context.queue.ping();
    writing();
    await context.store.createJob(job, buildBatches(context, offer, plan, job));
  }
  try {
    const job = await finishSubmit(context, jobId);
    if (job !== null) return job;
  } catch (error) {
    if (Fault.from(error).code === 'insufficient_credits') discarded();
    throw error;
  }
  discarded();
  throw new Fault(
    'unavailable',
    'The submit took too long and was discarded. Nothing was charged; submit again.',
  );
}

async function buildJob(
  context: SubmitContext,
  offer: Offer,
  plan: Plan,
  { userId, retryOf, approvedBy, resumable }: Draft,
  id: string,
): Promise<Job> {
  const { kind, market } = offer;
  const now = context.clock.now();
  const totalUnits = plan.groups.reduce((sum, group) => sum + group.units.length, 0);
  const price = unitPrice(context, offer);
  return {
    id,
    number: kind.sequence === undefined ? null : await context.store.nextNumber(kind.sequence),
    userId,
    market: market.name,
    kind: kind.name,
    region: plan.region,
    lane: kind.lane,
    state: 'submitted',
    stateSince: now,
    params: plan.params,
    unitPrice: price,
    cost: price * totalUnits,
    refunded: 0,
    totalUnits,
    totalBatches: plan.groups.reduce((sum, group) => sum + Math.ceil(group.units.length / kind.batchSize), 0),
    createdAt: now,
    resumable,
    decideBy: kind.approval && context.settings.approval && !approvedBy ? now + approvalWaitMs : null,
    decidedBy: approvedBy,
    reason: '',
    startedAt: null,
    finishedAt: null,
    file: null,
    retryOf,
    counts: null,
    noticeDue: null,
    noticeAt: null,
  };
}

function* buildBatches(
  context: SubmitContext,
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
        market: market.name,
        region,
        lane: kind.lane,
        units: units.slice(start, start + kind.batchSize),
        outcomes: {},
        success: 0,
        failed: 0,
        state: 'waiting',
        attempt: 0,
        queuedAt: null,
        leaseUntil: null,
        notBefore: null,
        file: null,
        parts: [],
        endedAt: null,
        stalledClaims: 0,
        solo: null,
      };
    }
  }
}

/**
 * Continues a submit from the state `submitted`: charges the job if its kind charges at submit, then queues it or lets
 * it await approval. The sweep also calls this for submits interrupted by a crash. Returns null if the job was
 * discarded. Fault `insufficient_credits` after discarding the job.
 */
export async function finishSubmit(context: SubmitContext, jobId: string): Promise<Job | null> {
  const { store, clock } = context;
  const job = await store.getJob(jobId);
  if (job === null || job.state === 'discarding') return null;
  if (job.state !== 'submitted') return job;
  if (!(await chargeSubmit(context, job))) return currentOf(context, jobId);
  const now = clock.now();
  const waits = job.decideBy !== null;
  const next = waits
    ? await store.moveJob(jobId, ['submitted'], 'awaiting_approval', now, {
        noticeDue: 'awaiting_approval',
        noticeAt: now,
      })
    : await store.moveJob(jobId, ['submitted'], 'approved', now);
  if (next === null) return currentOf(context, jobId);
  if (waits) {
    context.log.info(
      { jobId, userId: job.userId, kind: job.kind, market: job.market, cost: job.cost },
      'job awaits approval',
    );
    return next;
  }
  const dispatched = await tryDispatch(context, next);
  return dispatched === 'unqueued' ? failUnqueued(context, next) : next;
}

/** Returns a job that another process continued, or null if it was discarded. */
async function currentOf({ store }: SubmitContext, jobId: string): Promise<Job | null> {
  const job = await store.getJob(jobId);
  return job?.state === 'discarding' ? null : job;
}

/**
 * Charges a job if its kind charges at submit. Returns false if another process accepted or discarded the job. Fault
 * `insufficient_credits` after discarding it.
 */
async function chargeSubmit(context: SubmitContext, job: Job): Promise<boolean> {
  const { kind } = context.offers.of(job);
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
