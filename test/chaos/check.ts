import { type Job, JobService } from '../../gen/gleaner/job/v1/job_pb.ts';
import { type GleanerClient, GleanerError } from '../../src/client/index.ts';
import type { Deployment } from '../support/deployment.ts';
import type { Books, KnownJob, Problems } from './account.ts';
import { checkCredits } from './check-credits.ts';
import { checkResults, listUnits } from './check-results.ts';
import type { ServedLog } from './served.ts';

/** Highest number of requests for each page that results needed. */
const maxRequestsPerPage = 3;

/** What a run is checked with. */
export interface CheckStage {
  books: Books;
  served: ServedLog;
  problems: Problems;
  deployment: Deployment;
  /** A client of a user that repeats its calls. */
  patient: (userId: string) => GleanerClient;
}

/** What a check found beside broken invariants. */
export interface CheckResult {
  /** Requests to the origins per page needed. */
  requestsPerPage: number;
  /** Units that faults made fail, by code. */
  failures: Map<string, number>;
}

/** Holds a run to its invariants once the clients are done. */
export async function check(stage: CheckStage): Promise<CheckResult> {
  const { books, problems, deployment, patient, served } = stage;
  const known = [...books.jobs.values()];
  const failures = new Map<string, number>();
  for (const each of known)
    await checkJob(stage, each, failures).catch((error: Error) => {
      const isMissing = error instanceof GleanerError && error.status === 404;
      problems.add(isMissing ? 'lost' : 'other', `job ${each.jobId} cannot be read: ${error.message}`);
    });
  for (const user of books.users) await checkCredits(books, user, patient(user.id), problems);
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
    problems.add('other', `${perPage.toFixed(2)} requests per page, ${served.maxRequests()} for one of them`);
  return { requestsPerPage: perPage, failures };
}

async function checkJob(stage: CheckStage, known: KnownJob, failures: Map<string, number>): Promise<void> {
  const { problems, patient, served } = stage;
  const { jobId, retryOf, submission } = known;
  const client = patient(submission.user.id);
  const job = await client.call(JobService.method.getJob, { jobId });
  checkCounts(problems, known, job);
  await (await client.open(job.retrievePath)).arrayBuffer();
  known.job = job;
  if (retryOf !== null) known.subjects = await failedSubjects(client, retryOf);
  if (job.ended) await checkResults({ client, served, problems, failures }, known);
}

function checkCounts(problems: Problems, { jobId, isAcknowledged, job: seen }: KnownJob, job: Job): void {
  const { success, failed, total, ended, status } = job;
  if (!ended && isAcknowledged)
    problems.add('lost', `job ${jobId} is ${status} (${success} + ${failed} of ${total}) ${job.waitingFor}`);
  if (ended && success + failed !== total)
    problems.add('lost', `job ${jobId} is ${status} with ${success} + ${failed} of ${total} units`);
  if (seen?.ended && (seen.status !== status || seen.success !== success || seen.refunded !== job.refunded))
    problems.add('other', `job ${jobId} changed after its end, from ${seen.status} to ${status}`);
}

/** A retry holds the failed units of its job, in their order. */
async function failedSubjects(client: GleanerClient, { jobId, submission }: KnownJob): Promise<string[]> {
  const units = await listUnits(client, jobId);
  return units
    .filter(({ status }) => status === 'FAILED')
    .map(({ input }) => submission.work.subjectOf(JSON.parse(input)));
}
