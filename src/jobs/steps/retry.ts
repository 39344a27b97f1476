import {
  create,
  type DescMethod,
  type Message,
  type MessageInitShape,
  type MessageShape,
} from '@bufbuild/protobuf';
import type { QuoteSchema } from '../../../gen/gleaner/job/v1/quote_pb.ts';
import { idFromName } from '../../base/id.ts';
import { Fault } from '../../contract/fault.ts';
import { isFinalFailure } from '../../contract/final-failure.ts';
import { retryOptionsOf } from '../../contract/submit-options.ts';
import { inOrder } from '../../kinds/items.ts';
import type { Plan } from '../../kinds/kind.ts';
import type { Outcome, Unit } from '../../store/batches.ts';
import type { Job } from '../../store/documents.ts';
import type { JobStore } from '../../store/store.ts';
import type { JobContext } from '../context.ts';
import { isChargeVoid } from '../credits/job-credits.ts';
import { mayHoldFailed, readIndexedBatches, unitsOf } from '../indexed-units.ts';
import { type FaultGroup, groupFaults } from '../queries/units.ts';
import { quoteJob } from '../quote/quote.ts';
import { placeJob } from './create-job.ts';
import {
  abandonSubmission,
  beginSubmission,
  completeSubmission,
  type SubmitCall,
  type Submitter,
} from './idempotency.ts';

/**
 * Submits the failed units of an ended job again as a new job, in their order: only units whose failure is
 * not final. The new job has the same owner, kind, marketplace and parameters, and the current unit price. It
 * awaits approval if its kind does, unless an operator, `approvedBy`, retries it. Concurrent calls create one
 * job, as do calls under one idempotency key. Returns the response that `respond` builds from the new job.
 * Throws `conflict` for a job that has not ended, has no unit to retry, or has another retry that is running;
 * `insufficient_credits`; `max_credits_exceeded`; those of beginSubmission(). After a fault nothing is
 * charged. With the option `validate_only`, returns the quote of the retry, and writes nothing.
 */
export async function retry<M extends DescMethod>(
  context: JobContext,
  method: M,
  request: Message,
  submitter: Submitter,
  source: Job,
  approvedBy: string | null,
  respond: (job: Job) => Promise<MessageInitShape<M['output']>>,
): Promise<MessageShape<M['output']>> {
  const jobId = await nextRetryId(context, source);
  if (submitter.options?.validateOnly) {
    const quote = await quoteRetry(context, source, submitter, jobId);
    return create(method.output, { quote }) as MessageShape<M['output']>;
  }
  const submission = await beginSubmission(context, method, request, submitter, jobId);
  if (submission.response !== null) return submission.response;
  try {
    const job = await placeRetry(context, source, submission, submitter, approvedBy);
    return await completeSubmission(context, submission, await respond(job));
  } catch (error) {
    await abandonSubmission(context, submission);
    throw error;
  }
}

/**
 * Returns the id of the next retry of a job. Concurrent calls get the same id, so that they create one job.
 */
async function nextRetryId({ store }: JobContext, { id }: Job): Promise<string> {
  const last = await lastRetry(store, id);
  let next = idFromName(`retry of ${id} after ${last?.id ?? 'none'}`);
  // The id of a discarded or deleted job cannot be used again.
  while ((await isChargeVoid(store, next)) || (await store.getDeletedJob(next)) !== null)
    next = idFromName(`retry of ${id} after ${next}`);
  return next;
}

/** Returns the newest retry of a job that was not discarded. */
async function lastRetry(store: Pick<JobStore, 'listJobs'>, retryOf: string): Promise<Job | undefined> {
  const { items } = await store.listJobs({ retryOf }, { limit: 10 });
  return items.find(({ state }) => state !== 'discarding');
}

/** Returns the quote of a retry. Faults as for the retry. */
async function quoteRetry(
  context: JobContext,
  source: Job,
  { userId, keyId, options }: Submitter,
  jobId: string,
): Promise<MessageInitShape<typeof QuoteSchema>> {
  await findRunningRetry(context, source, jobId);
  const plan = await planRetry(context, source);
  const warning = await retryWarning(context, source);
  const caller = { userId, mode: source.mode, keyId, options: retryOptionsOf(source.options, options) };
  return quoteJob(context, context.jobTypes.of(source), plan, caller, warning === null ? [] : [warning]);
}

/**
 * Returns an interrupted retry of a job, which is resumed. Throws `conflict` if the job cannot be retried
 * now.
 */
async function findRunningRetry(
  { store }: JobContext,
  { id, state, finishedAt, counts }: Job,
  jobId: string,
): Promise<Job | undefined> {
  if (finishedAt === null)
    throw new Fault('conflict', `The job has not ended: it is ${state}. Only ended jobs can be retried.`);
  // Stored with the end of the job.
  if (counts!.units.failed === 0) throw new Fault('conflict', 'No unit of the job has failed.');

  const last = await lastRetry(store, id);
  const other = last?.finishedAt === null && last.id !== jobId ? last : undefined;
  if (other !== undefined && other.state !== 'submitted')
    throw new Fault('conflict', `The job ${other.id} retries the failed units and has not ended.`);
  return other;
}

/** Creates the new job, or resumes one that an interrupted call created. */
async function placeRetry(
  context: JobContext,
  source: Job,
  submission: SubmitCall<DescMethod>,
  { keyId, options }: Submitter,
  approvedBy: string | null,
): Promise<Job> {
  const { store, jobTypes } = context;
  const { id, userId, mode } = source;
  const other = await findRunningRetry(context, source, submission.jobId);
  const draft = {
    jobId: other?.id ?? submission.jobId,
    userId,
    mode,
    keyId,
    plan: () => planRetry(context, source),
    retryOf: id,
    schedule: null,
    approvedBy,
    // Repeating the call gives the same job id, with or without an idempotency key.
    resumable: true,
    options: retryOptionsOf(source.options, options),
  };
  const job = await placeJob(context, jobTypes.of(source), draft, submission);
  // Includes the batches that were dispatched meanwhile.
  return (await store.getJob(job.id)) ?? job;
}

/** Returns the sentence about failed units that a retry leaves out, or null if it leaves out none. */
export async function retryWarning(context: JobContext, source: Job): Promise<string | null> {
  return formatLeftOut(countRetryable(await groupFaults(context, source)));
}

/** Returns the units to retry. Throws `conflict` if the failure of every unit is final. */
async function planRetry(context: JobContext, source: Job): Promise<Plan> {
  const { store } = context;
  const failed: { unit: Unit; region: string }[] = [];
  for await (const placed of readIndexedBatches(store, source.id, mayHoldFailed(source))) {
    for (const { unit, region, outcome } of unitsOf(source, placed))
      if (isRetryable(outcome)) failed.push({ unit, region });
  }
  // The batches read may be incomplete.
  if ((await store.getJob(source.id)) === null)
    throw new Fault('not_found', `There is no job '${source.id}'.`);
  if (failed.length === 0)
    throw new Fault('conflict', `A retry cannot succeed: ${await retryWarning(context, source)}`);
  return { groups: inOrder(failed), region: source.region, params: source.params };
}

/** Returns true if a retry of a unit with this outcome can succeed. */
function isRetryable(outcome: Outcome | undefined): boolean {
  return outcome?.status === 'FAILED' && !isFinalFailure(outcome.code);
}

/** Failed units of a job: the number that a retry submits again, and the groups whose failure is final. */
interface RetryCounts {
  retryable: number;
  final: readonly Pick<FaultGroup, 'code' | 'units'>[];
}

/** Splits the failed units of a job by whether a retry can succeed. */
function countRetryable(groups: readonly Pick<FaultGroup, 'code' | 'units'>[]): RetryCounts {
  const final = groups.filter(({ code }) => isFinalFailure(code));
  const sum = (some: readonly { units: number }[]) => some.reduce((total, { units }) => total + units, 0);
  return { retryable: sum(groups) - sum(final), final };
}

/** Returns the sentence about the units that a retry leaves out, or null if it leaves out none. */
function formatLeftOut({ retryable, final }: RetryCounts): string | null {
  if (final.length === 0) return null;
  const leftOut = final.reduce((total, { units }) => total + units, 0);
  const codes = final.map(({ code, units }) => `${units} ${code}`).join(', ');
  return `${retryable} of ${retryable + leftOut} failed units are retried. The failure of the others is final: ${codes}.`;
}
