import {
  create,
  type DescMessage,
  fromJsonString,
  type Message,
  toBinary,
  toJsonString,
} from '@bufbuild/protobuf';
import { Fault } from '../base/fault.ts';
import { sha256 } from '../base/id.ts';
import { chargeJob, creditsShort } from '../credits/job-credits.ts';
import type { Plan } from '../kinds/kind.ts';
import type { Batch, Job } from '../store/documents.ts';
import { approvalWaitMs, idempotencyMs, type JobContext } from './context.ts';
import { dispatch, failUnqueued } from './dispatch.ts';
import type { JobMethod, Offer } from './offers.ts';
import { snapshotOf } from './read.ts';

/** Who submits, and under which idempotency key. */
export interface Submitter {
  userId: string;
  idempotencyKey: string | undefined;
}

/** How long another submit under the same key may be under way before it counts as dead. */
const underWayMs = 60_000;

/**
 * Makes a job of a validated request and answers it (interface, the submit endpoints). The same
 * idempotency key with the same body gives the first answer and charges once; with another body it
 * is a `conflict`. Faults: `invalid`, `insufficient_credits`, `conflict`, `unavailable`; nothing is
 * charged then, and no job is left.
 */
export async function submit(
  context: JobContext,
  { method, offer: offered }: JobMethod,
  request: Message,
  submitter: Submitter,
): Promise<Message> {
  const offer = offered!;
  const { userId, idempotencyKey } = submitter;
  let written = false;
  const writing = () => {
    written = true;
  };
  const answer = async (jobId: string) =>
    create(method.output, await submitJob(context, offer, method.input, request, { userId, jobId, writing }));
  if (idempotencyKey === undefined) return answer(context.newId());

  const now = context.clock.now();
  const bodyHash = sha256(
    Buffer.concat([
      Buffer.from(`${method.parent.typeName}.${method.name}\n`),
      toBinary(method.input, request),
    ]),
  );
  const own = { userId, idempotencyKey, bodyHash, jobId: context.newId(), createdAt: now, response: null };
  const first = await context.store.takeSubmission(own, now - idempotencyMs);
  if (first !== null) {
    if (first.bodyHash !== bodyHash) {
      throw new Fault('conflict', `The Idempotency-Key '${idempotencyKey}' was used with another request.`);
    }
    if (first.response !== null) return parseAnswer(method.output, first.response);
    if (now - first.createdAt < underWayMs) {
      throw new Fault('conflict', `A request with the Idempotency-Key '${idempotencyKey}' is under way.`);
    }
  }
  // The job id is the first taker's: what a crash left of that submit is gone on with, not done again.
  const { jobId } = first ?? own;
  try {
    const message = await answer(jobId);
    await context.store.answerSubmission(userId, idempotencyKey, toJsonString(method.output, message));
    return message;
  } catch (error) {
    // The same key may try again at once, with credits, a mended body or a queue that is back. Where a job
    // may have come of it the key stays that job's: trying again must not make a second one.
    const nothing = !written || (await cameToNothing(context, jobId, Fault.from(error)));
    if (nothing) await context.store.dropSubmission(userId, idempotencyKey).catch(() => {});
    throw error;
  }
}

/** Whether a submit that failed after its job was begun left nothing that goes on or costs anything. */
async function cameToNothing({ store }: JobContext, jobId: string, fault: Fault): Promise<boolean> {
  if (fault.code === 'insufficient_credits') return true;
  const job = await store.getJob(jobId).catch(() => null);
  return job?.state === 'failed';
}

const parseAnswer = (schema: DescMessage, text: string): Message => fromJsonString(schema, text);

/** Whose job it will be. `writing` is told as soon as something of it may be in the store. */
interface Own {
  userId: string;
  jobId: string;
  writing(): void;
}

async function submitJob(
  context: JobContext,
  offer: Offer,
  schema: DescMessage,
  request: Message,
  { userId, jobId, writing }: Own,
) {
  const { kind, market } = offer;
  const existing = await context.store.getJob(jobId);
  if (existing !== null) writing();
  else {
    const plan = await kind.plan(request, schema, market);
    const job = await makeJob(context, offer, plan, userId, jobId);
    const balance = (await context.store.getUser(userId))?.balance ?? 0;
    if (balance < job.cost) throw creditsShort(job.cost, balance);
    if (kind.unqueued === 'refuse') await context.queue.ping();
    writing();
    await context.store.createJob(job, makeBatches(context, offer, plan, job));
  }
  const job = await finishSubmit(context, jobId);
  return kind.submitted(await snapshotOf(context, job, kind.submittedNeeds, undefined));
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
  userId: string,
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
    decideBy: kind.approval && context.settings.approval ? now + approvalWaitMs : null,
    decidedBy: null,
    reason: '',
    startedAt: null,
    finishedAt: null,
    file: null,
    retryOf: null,
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
