import type { Message } from '@bufbuild/protobuf';
import { Fault } from '../base/fault.ts';
import { chargeJob, creditsShort } from '../credits/job-credits.ts';
import type { Plan } from '../kinds/kind.ts';
import type { Batch, Job } from '../store/documents.ts';
import { approvalWaitMs, type JobContext } from './context.ts';
import { dispatch, failUnqueued } from './dispatch.ts';
import type { JobMethod, Offer } from './offers.ts';
import { answerOnce, type Making, type Submitter } from './once.ts';
import { snapshotOf } from './read.ts';

/**
 * Makes a job of a validated request and answers it (interface, the submit endpoints), once for an
 * idempotency key. Faults: `invalid`, `insufficient_credits`, `conflict`, `unavailable`; nothing is charged
 * then, and no job is left.
 */
export async function submit(
  context: JobContext,
  { method, offer: offered }: JobMethod,
  request: Message,
  submitter: Submitter,
): Promise<Message> {
  const offer = offered!;
  const { kind, market } = offer;
  return answerOnce(context, method, request, submitter, context.newId(), async (making) => {
    const job = await placeJob(context, offer, making, {
      userId: submitter.userId,
      plan: () => kind.plan(request, method.input, market),
      retryOf: null,
      approvedBy: null,
    });
    return kind.submitted(await snapshotOf(context, job, kind.submittedNeeds, undefined));
  });
}

/** What a job is made of. */
export interface Draft {
  /** Its owner, who pays. */
  userId: string;
  /** Its units; asked for unless the job is there already. */
  plan(): Plan | Promise<Plan>;
  retryOf: string | null;
  /** The operator who has approved it beforehand; null: it waits where its kind does. */
  approvedBy: string | null;
}

/**
 * Writes a job and takes it to where it waits or runs; one that was written before it goes on with. Faults:
 * `insufficient_credits`, `unavailable`, and those of the plan; no job is left then.
 */
export async function placeJob(
  context: JobContext,
  offer: Offer,
  { jobId, writing }: Making,
  draft: Draft,
): Promise<Job> {
  const existing = await context.store.getJob(jobId);
  if (existing !== null) writing();
  else {
    const plan = await draft.plan();
    const job = await makeJob(context, offer, plan, draft, jobId);
    const balance = (await context.store.getUser(draft.userId))?.balance ?? 0;
    if (balance < job.cost) throw creditsShort(job.cost, balance);
    if (offer.kind.unqueued === 'refuse') await context.queue.ping();
    writing();
    await context.store.createJob(job, makeBatches(context, offer, plan, job));
  }
  return finishSubmit(context, jobId);
}

/** Credits per unit of an offer: configuration over the kind's own. */
export function unitPrice(context: JobContext, { kind, market }: Offer): number {
  const { prices } = context.settings;
  return prices.get(`${market.name}.${kind.name}`) ?? prices.get(kind.name) ?? kind.price(market.name);
}

async function makeJob(
  context: JobContext,
  offer: Offer,
  plan: Plan,
  { userId, retryOf, approvedBy }: Draft,
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

function* makeBatches(context: JobContext, { kind, market }: Offer, plan: Plan, job: Job): Generator<Batch> {
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
        endedAt: null,
        stalledClaims: 0,
        solo: null,
      };
    }
  }
}

/**
 * Takes a written job from `submitted` to where it waits or runs: charges it where the kind charges
 * at submit, and queues it. The sweep calls this too, for submits that a crash cut short. Fault
 * `insufficient_credits` after removing the job.
 */
export async function finishSubmit(context: JobContext, jobId: string): Promise<Job> {
  const { store, clock } = context;
  const job = await store.getJob(jobId);
  if (job === null) throw new Fault('not_found', `There is no job '${jobId}'.`);
  if (job.state !== 'submitted') return job;
  const waits = job.decideBy !== null;
  const { kind } = context.offers.of(job);
  if (kind.charge === 'submit' || !waits) {
    try {
      await chargeJob(store, job, clock.now());
    } catch (error) {
      if (Fault.from(error).code === 'insufficient_credits') await store.discardJob(jobId);
      throw error;
    }
  }
  const now = clock.now();
  const next = waits
    ? await store.moveJob(jobId, ['submitted'], 'awaiting_approval', now, {
        noticeDue: 'awaiting_approval',
        noticeAt: now,
      })
    : await store.moveJob(jobId, ['submitted'], 'approved', now);
  if (next === null) return (await store.getJob(jobId)) ?? job;
  if (waits) {
    context.log.info(
      { jobId, userId: job.userId, kind: job.kind, market: job.market, cost: job.cost },
      'job awaits approval',
    );
    return next;
  }
  const dispatched = await dispatch(context, next);
  return dispatched === 'unqueued' ? failUnqueued(context, next) : next;
}
