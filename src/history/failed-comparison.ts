import { Fault } from '../contract/fault.ts';
import type { JobContext } from '../jobs/context.ts';
import { noJob } from '../jobs/queries/read.ts';
import { createEmail, type Email } from '../notify/email.ts';
import type { Notice } from '../notify/message.ts';
import { queueForOperators } from '../notify/queue.ts';
import type { TrackingRun } from '../store/history.ts';
import { skipRun } from '../store/tracking-run.ts';

/** Time for which a comparison may fail before operators are notified, in milliseconds. */
const notifyAfterMs = 10 * 60_000;

/** Tells operators about a run that has failed for minutes, once until it makes progress. */
export async function tellOperators(
  context: JobContext,
  run: TrackingRun,
  error: Fault,
): Promise<void> {
  const { failedAt, jobId } = run;
  if (failedAt === null || context.clock.now() - failedAt < notifyAfterMs) return;
  const message = {
    notice: failureNotice(run, failedAt, error),
    email: failureEmail(run, failedAt, error),
  };
  await queueForOperators(context, `${jobId}:${failedAt}`, jobId, message);
}

function failureNotice(
  { jobId, userId, series }: TrackingRun,
  failedAt: number,
  error: Fault,
): Notice {
  return {
    type: 'comparison.failed',
    timestamp: new Date(failedAt).toISOString(),
    data: {
      job_id: jobId,
      user_id: userId,
      series,
      error: error.message,
    },
  };
}

function failureEmail({ jobId, series }: TrackingRun, failedAt: number, error: Fault): Email {
  const behind =
    series === '' ? '' : ` The jobs of its series ${series} that follow are not compared.`;
  const since = new Date(failedAt).toISOString();
  const problem = `The comparison of job ${jobId} has failed since ${since}: ${error.message}.`;
  return createEmail(`The comparison of job ${jobId} fails`, [
    `${problem}${behind}`,
    '',
    'If its records cannot be restored, skip it:',
    `  gleaner job skip-comparison ${jobId}`,
  ]);
}

/**
 * Ends the comparison of a job that has failed, without the records that are left. Throws
 * `not_found` for a job without a comparison, and `conflict` for one that has not failed.
 */
export async function skipComparison(
  { store, clock, log }: JobContext,
  jobId: string,
): Promise<TrackingRun> {
  const run = await store.trackingRuns.get(jobId);
  if (run === null) throw noJob(jobId);
  const skipped = await skipRun(store, jobId, clock.steady());
  if (skipped === null)
    throw new Fault('conflict', `The comparison of job ${jobId} has not failed.`);
  log.warn({ jobId, series: run.series }, 'comparison skipped');
  return skipped;
}
