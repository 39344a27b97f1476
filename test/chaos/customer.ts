import { setTimeout as wait } from 'node:timers/promises';
import { type Job, JobService } from '../../gen/gleaner/job/v1/job_pb.ts';
import { OperatorService } from '../../gen/gleaner/operator/v1/operator_pb.ts';
import { type GleanerClient, GleanerError } from '../../src/client/index.ts';
import { isTransient } from '../../src/client/transport.ts';
import type { Books, CallOutcome, ChaosSubmit, KnownJob, Problems } from './account.ts';
import type { ProgressWatch } from './progress.ts';

/** What the clients of a run share. */
export interface ClientContext {
  books: Books;
  operator: GleanerClient;
  problems: Problems;
  progress: ProgressWatch;
  /** Whether the time after the faults is over. */
  isOver: () => boolean;
}

/** What a client intends beside its submit. */
export interface Intent {
  /** Repeats the accepted submit under its key. */
  repeats: boolean;
  /** Submits again after an error, also without a key. */
  insists: boolean;
  /** Cancels the job once this share of its units has ended. */
  cancelsAt: number | null;
  /** Retries the failed units once the job has ended. */
  retries: boolean;
}

const pollMs = 400;
const repeatMs = 500;

/** Submits, has the job approved, follows it to its end, and cancels or retries it as intended. */
export async function runCustomer(
  context: ClientContext,
  submission: ChaosSubmit,
  intent: Intent,
): Promise<void> {
  context.books.submissions.push(submission);
  const jobId = submission.isKeyed
    ? await submitKeyed(context, submission, intent.repeats)
    : await submitPlainly(context, submission, intent.insists);
  if (jobId === null) return;
  const known = know(context, submission, jobId, null, true);
  await follow(context, known, intent.cancelsAt);
  if (intent.retries && (known.job?.failed ?? 0) > 0) await retry(context, known);
}

/** Adds a job to what the clients know. */
export function know(
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

async function submitKeyed(
  context: ClientContext,
  submission: ChaosSubmit,
  repeats: boolean,
): Promise<string | null> {
  const key = `chaos-${crypto.randomUUID()}`;
  const { work, user, subjects } = submission;
  const once = () => work.submit(user.client, subjects, key);
  const accepted = await persist(context, `submit of ${work.name}`, once);
  if (accepted === null) return null;
  submission.outcomes.push('accepted');
  const again = repeats ? await persist(context, `repeated submit of ${work.name}`, once) : accepted;
  if (again !== null && again.jobId !== accepted.jobId)
    context.problems.add('doubled', `one key made the jobs ${accepted.jobId} and ${again.jobId}`);
  return accepted.jobId;
}

async function submitPlainly(
  context: ClientContext,
  submission: ChaosSubmit,
  insists: boolean,
): Promise<string | null> {
  const { work, user, subjects, outcomes } = submission;
  while (!context.isOver()) {
    const { outcome, value } = await attempt(context, `submit of ${work.name}`, () =>
      work.submitOnce(user.client, subjects),
    );
    outcomes.push(outcome);
    if (value !== null) {
      const found = await persist(context, `search for ${value}`, () => user.client.find(value));
      if (found === null) context.problems.add('lost', `accepted as ${value}, and not found`);
      return found?.jobId ?? null;
    }
    if (!insists) return null;
    await wait(repeatMs);
  }
  return null;
}

/** Makes a call once and tells an error in answer from no answer. */
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
      problems.add(error.status === 404 ? 'lost' : 'other', `${what}: ${error.status} ${error.detail}`);
    return { outcome: error.status === 0 ? 'unanswered' : 'refused', value: null };
  }
}

/** Repeats a call until it is answered; null once the time is over. */
async function persist<T>(context: ClientContext, what: string, call: () => Promise<T>): Promise<T | null> {
  while (!context.isOver()) {
    const { value } = await attempt(context, what, call);
    if (value !== null) return value;
    await wait(repeatMs);
  }
  return null;
}

/** Polls a job until it has ended, holding each answer to the one before. */
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
      `job ${known.jobId} went back from ${before.success} + ${before.failed}, ${before.refunded} refunded to ${text}`,
    );
  if (success + failed > before.success + before.failed) progress.advance();
}

/** Approves a job that the client knows of; one that it only found is cancelled. A failed call comes again with the next poll. */
async function decide(
  { operator }: ClientContext,
  { jobId, isAcknowledged, submission }: KnownJob,
): Promise<void> {
  const call = isAcknowledged
    ? operator.call(OperatorService.method.approveJob, { jobId })
    : submission.user.client.call(JobService.method.cancelJob, { jobId });
  await call.catch(ignoreAnswer);
}

async function cancel({ jobId, submission }: KnownJob): Promise<void> {
  await submission.user.client.call(JobService.method.cancelJob, { jobId }).catch(ignoreAnswer);
}

/** Whether the call took effect shows in the job: an error may be the answer to the second of two calls. */
function ignoreAnswer(error: unknown): void {
  if (!(error instanceof GleanerError)) throw error;
}

async function retry(context: ClientContext, known: KnownJob): Promise<void> {
  const { submission, jobId, retries } = known;
  const call = () => submission.user.client.call(JobService.method.retryJob, { jobId });
  const { outcome, value } = await attempt(context, `retry of ${jobId}`, call);
  retries.push(outcome);
  if (value === null) return;
  await follow(context, know(context, submission, value.jobId, known, true, []));
}
