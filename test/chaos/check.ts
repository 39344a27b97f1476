import { type GleanerClient, GleanerError } from '../../clients/typescript/index.ts';
import { type Job, JobService } from '../../gen/gleaner/job/v1/job_pb.ts';
import type { Deployment } from '../support/service/deployment.ts';
import type { Books, KnownJob, Problems } from './account.ts';
import { checkCredits } from './check-credits.ts';
import { checkHistory } from './check-history.ts';
import { checkResults, listUnits } from './check-results.ts';
import type { TrackedSeries } from './series.ts';
import type { ServedLog } from './served.ts';

/** Maximum requests per page that the results need. */
const maxRequestsPerPage = 3;

/** Context of check(). */
export interface CheckContext {
  books: Books;
  served: ServedLog;
  problems: Problems;
  deployment: Deployment;
  /** Creates a client of a user that retries its calls. */
  retryingClient: (userId: string) => GleanerClient;
  series: TrackedSeries;
}

/** Figures found by check(). */
export interface CheckResult {
  /** Requests to the origins per page needed. */
  requestsPerPage: number;
  /** Number of units that failed because of faults, by code. */
  failures: Map<string, number>;
}

/** Checks the invariants of a run after its clients are done. */
export async function check(context: CheckContext): Promise<CheckResult> {
  const { books, problems, deployment, retryingClient, served, series } = context;
  const known = [...books.jobs.values()];
  const failures = new Map<string, number>();
  for (const each of known)
    await checkJob(context, each, failures).catch((error: Error) => {
      const isMissing = error instanceof GleanerError && error.status === 404;
      problems.add(
        isMissing ? 'lost' : 'other',
        `job ${each.jobId} cannot be read: ${error.message}`,
      );
    });
  for (const user of books.users)
    await checkCredits(books, user, retryingClient(user.id), problems);
  await checkHistory(retryingClient(series.user.id), series, problems);
  const audited = await deployment.audit();
  for (const problem of audited.problems) problems.add('other', `audit: ${problem}`);

  const needed = known.flatMap(({ subjects }) => subjects).map((subject) => served.pages(subject));
  const perPage =
    served.requests() /
    Math.max(
      1,
      needed.reduce((sum, pages) => sum + pages, 0),
    );
  if (perPage > maxRequestsPerPage)
    problems.add(
      'other',
      `${perPage.toFixed(2)} requests per page, ${served.maxRequests()} for one of them`,
    );
  return { requestsPerPage: perPage, failures };
}

async function checkJob(
  context: CheckContext,
  known: KnownJob,
  failures: Map<string, number>,
): Promise<void> {
  const { problems, retryingClient, served } = context;
  const { jobId, retryOf, submission } = known;
  const client = retryingClient(submission.user.id);
  const job = await client.call(JobService.method.getJob, { jobId });
  checkCounts(problems, known, job);
  await (await client.open(job.retrievePath)).arrayBuffer();
  known.job = job;
  if (retryOf !== null) known.subjects = await failedSubjects(client, retryOf);
  if (job.ended) await checkResults({ client, served, problems, failures }, known);
}

function checkCounts(
  problems: Problems,
  { jobId, isAcknowledged, job: seen }: KnownJob,
  job: Job,
): void {
  const { success, failed, total, ended, status } = job;
  if (!ended && isAcknowledged)
    problems.add(
      'lost',
      `job ${jobId} is ${status} (${success} + ${failed} of ${total}) ${job.waitingFor}`,
    );
  if (ended && success + failed !== total)
    problems.add('lost', `job ${jobId} is ${status} with ${success} + ${failed} of ${total} units`);
  if (
    seen?.ended &&
    (seen.status !== status || seen.success !== success || seen.refunded !== job.refunded)
  )
    problems.add(
      'other',
      `job ${jobId} changed after it had ended, from ${seen.status} to ${status}`,
    );
}

/**
 * Returns the subjects of a retry: the failed units of its job whose failure is not final, in
 * order.
 */
async function failedSubjects(
  client: GleanerClient,
  { jobId, submission }: KnownJob,
): Promise<string[]> {
  const units = await listUnits(client, jobId);
  return units
    .filter(({ status, code }) => status === 'FAILED' && code !== 'page_not_found')
    .map(({ input }) => submission.work.formatSubject(JSON.parse(input)));
}
