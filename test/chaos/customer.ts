import { setTimeout as wait } from 'node:timers/promises';
import { type GleanerClient, GleanerError } from '../../clients/typescript/index.ts';
import { isTransient } from '../../clients/typescript/transport.ts';
import { type Job, JobService } from '../../gen/gleaner/job/v1/job_pb.ts';
import { OperatorService } from '../../gen/gleaner/operator/v1/operator_pb.ts';
import type { Books, CallOutcome, ChaosSubmit, KnownJob, Problems } from './account.ts';
import type { ProgressWatch } from './progress.ts';

/** State shared by the clients of a run. */
export interface ClientContext {
  books: Books;
  operator: GleanerClient;
  problems: Problems;
  progress: ProgressWatch;
  /** Returns true after the timeout that follows the faults. */
  isOver: () => boolean;
}

/** Actions of a client besides its submission. */
export interface ClientPlan {
  /** Repeats the accepted submission with the same key. */
  repeats: boolean;
  /** Submits again after an error, even without a key. */
  resubmits: boolean;
  /** Cancels the job once this share of its units has ended. */
  cancelsAt: number | null;
  /** Retries the failed units once the job has ended. */
  retries: boolean;
}

const pollMs = 400;
const repeatMs = 500;

/**
 * Submits, has the job approved, polls it until it has ended, and cancels or retries it as planned.
 * Returns the job, or null if the submission was not accepted.
 */
export async function runCustomer(
  context: ClientContext,
  submission: ChaosSubmit,
  plan: ClientPlan,
): Promise<KnownJob | null> {
  context.books.submissions.push(submission);
  const jobId = submission.isKeyed
    ? await submitWithKey(context, submission, plan.repeats)
    : await submitWithoutKey(context, submission, plan.resubmits);
  if (jobId === null) return null;
  const known = addJob(context, submission, jobId, null, true);
  await follow(context, known, plan.cancelsAt);
  if (plan.retries && (known.job?.failed ?? 0) > 0) await retry(context, known);
  return known;
}

/** Adds a job to the known ones. */
export function addJob(
  { books }: ClientContext,
  submission: ChaosSubmit,
  jobId: string,
  retryOf: KnownJob | null,
  isAcknowledged: boolean,
  subjects = submission.subjects,
): KnownJob {
  const known = { jobId, submission, subjects, isAcknowledged, retries: [], retryOf, job: null };
  books.jobs.set(jobId, known);
  return known;
}

async function submitWithKey(
  context: ClientContext,
  submission: ChaosSubmit,
  repeats: boolean,
): Promise<string | null> {
  const key = `chaos-${crypto.randomUUID()}`;
  const { work, user, subjects } = submission;
  const submitOnce = () => work.submit(user.client, subjects, key);
  const accepted = await retryCall(context, `submit of ${work.name}`, submitOnce);
  if (accepted === null) return null;
  submission.outcomes.push('accepted');
  const again = repeats
    ? await retryCall(context, `repeated submit of ${work.name}`, submitOnce)
    : accepted;
  if (again !== null && again.jobId !== accepted.jobId)
    context.problems.add(
      'duplicated',
      `one key created the jobs ${accepted.jobId} and ${again.jobId}`,
    );
  return accepted.jobId;
}

async function submitWithoutKey(
  context: ClientContext,
  submission: ChaosSubmit,
  resubmits: boolean,
): Promise<string | null> {
  const { work, user, subjects, outcomes } = submission;
  while (!context.isOver()) {
    const { outcome, value } = await attempt(context, `submit of ${work.name}`, () =>
      work.submitOnce(user.client, subjects),
    );
    outcomes.push(outcome);
    if (value !== null) {
      const found = await retryCall(context, `search for ${value}`, () => user.client.find(value));
      if (found === null) context.problems.add('lost', `accepted as ${value} but not found`);
      return found?.jobId ?? null;
    }
    if (!resubmits) return null;
    await wait(repeatMs);
  }
  return null;
}

/** Makes a call once, and tells an error reply from a missing reply. */
async function attempt<T>(
  { problems }: ClientContext,
  what: string,
  call: () => Promise<T>,
): Promise<{ outcome: CallOutcome; value: T | null }> {
  try {
    return { outcome: 'accepted', value: await call() };
  } catch (error) {
    if (!(error instanceof GleanerError)) throw error;
    if (!isTransient(error))
      problems.add(
        error.status === 404 ? 'lost' : 'other',
        `${what}: ${error.status} ${error.detail}`,
      );
    return { outcome: error.status === 0 ? 'unanswered' : 'refused', value: null };
  }
}

/** Retries a call until it succeeds. Returns null after the timeout. */
export async function retryCall<T>(
  context: ClientContext,
  what: string,
  call: () => Promise<T>,
): Promise<T | null> {
  while (!context.isOver()) {
    const { value } = await attempt(context, what, call);
    if (value !== null) return value;
    await wait(repeatMs);
  }
  return null;
}

/** Polls a job until it has ended, comparing each reply with the one before. */
export async function follow(
  context: ClientContext,
  known: KnownJob,
  cancelsAt: number | null = null,
): Promise<void> {
  const { client } = known.submission.user;
  let cancels = cancelsAt;
  context.progress.begin();
  while (!context.isOver()) {
    const call = () => client.call(JobService.method.getJob, { jobId: known.jobId });
    const { value: job } = await attempt(context, `job ${known.jobId}`, call);
    if (job !== null) {
      observe(context, known, job);
      if (job.ended) break;
      if (job.status === 'awaiting_approval') await decide(context, known);
      else if (cancels !== null && job.success + job.failed >= cancels * job.total) {
        cancels = null;
        await cancel(known);
      }
    }
    await wait(pollMs);
  }
  context.progress.end();
}

function observe({ problems, progress }: ClientContext, known: KnownJob, job: Job): void {
  const before = known.job;
  known.job = job;
  const { success, failed, total, refunded } = job;
  const text = `${success} + ${failed} of ${total}, ${refunded} refunded`;
  if (success + failed > total) problems.add('other', `job ${known.jobId}: ${text}`);
  if (before === null) return;
  if (success < before.success || failed < before.failed || refunded < before.refunded)
    problems.add(
      'other',
      `job ${known.jobId} decreased from ${before.success} + ${before.failed}, ${before.refunded} refunded to ${text}`,
    );
  if (success + failed > before.success + before.failed) progress.advance();
}

/**
 * Approves an acknowledged job and cancels one that was only found. The next poll repeats a failed
 * call.
 */
async function decide(
  { operator }: ClientContext,
  { jobId, isAcknowledged, submission }: KnownJob,
): Promise<void> {
  const call = isAcknowledged
    ? operator.call(OperatorService.method.approveJob, { jobId })
    : submission.user.client.call(JobService.method.cancelJob, { jobId });
  await call.catch(ignoreReply);
}

async function cancel({ jobId, submission }: KnownJob): Promise<void> {
  await submission.user.client.call(JobService.method.cancelJob, { jobId }).catch(ignoreReply);
}

/**
 * Ignores an error reply, which may come from a repeated call. The job shows whether the call took
 * effect.
 */
function ignoreReply(error: unknown): void {
  if (!(error instanceof GleanerError)) throw error;
}

/** Retries a job, unless the failure of all its units is final. */
async function retry(context: ClientContext, known: KnownJob): Promise<void> {
  const { submission, jobId, retries } = known;
  const listed = await submission.user.client
    .call(JobService.method.listFaults, { jobId })
    .catch(ignoreReply);
  if (!listed?.faults.some(({ code }) => code !== 'page_not_found')) return;
  const call = () => submission.user.client.call(JobService.method.retryJob, { jobId });
  const { outcome, value } = await attempt(context, `retry of ${jobId}`, call);
  retries.push(outcome);
  if (value === null) return;
  await follow(context, addJob(context, submission, value.jobId, known, true, []));
}
