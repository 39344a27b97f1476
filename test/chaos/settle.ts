import { setTimeout as wait } from 'node:timers/promises';
import type { GleanerClient } from '../../clients/typescript/index.ts';
import { type Job, JobService } from '../../gen/gleaner/job/v1/job_pb.ts';
import type { ChaosSubmit, KnownJob } from './account.ts';
import { addJob, type ClientContext, follow } from './customer.ts';

const pollMs = 1_000;

/** Lists all jobs of the client's user. */
async function listJobs(client: GleanerClient): Promise<Job[]> {
  const jobs: Job[] = [];
  for await (const page of client.pages(JobService.method.listJobs, { pageSize: 1_000 }))
    jobs.push(...page.jobs);
  return jobs;
}

/**
 * Finds the jobs of submits and retries without a reply, and polls them until all have ended.
 * `retryingClient` creates a client that retries its calls.
 */
export async function settle(
  context: ClientContext,
  retryingClient: (user: string) => GleanerClient,
): Promise<void> {
  for (const user of context.books.users) {
    const client = retryingClient(user.id);
    for (let isQuiet = false; !isQuiet && !context.isOver(); await wait(isQuiet ? 0 : pollMs)) {
      const jobs = await listJobs(client);
      // Oldest first, so that a job is known before its retries.
      const unknown = jobs.reverse().filter(({ jobId }) => !context.books.jobs.has(jobId));
      const adopted = await Promise.all(unknown.map((job) => adopt(context, client, job)));
      await Promise.all(adopted.map((known) => known && follow(context, known)));
      isQuiet = unknown.length === 0;
    }
  }
}

async function adopt(
  context: ClientContext,
  client: GleanerClient,
  job: Job,
): Promise<KnownJob | null> {
  const retryOf = context.books.jobs.get(job.retryOf) ?? null;
  const submission = retryOf?.submission ?? (await findSubmission(context, client, job));
  if (submission === undefined) {
    context.problems.add('duplicated', `job ${job.jobId} was never submitted`);
    return null;
  }
  return addJob(context, submission, job.jobId, retryOf, false, retryOf ? [] : submission.subjects);
}

async function findSubmission(
  { books }: ClientContext,
  client: GleanerClient,
  { jobId }: Job,
): Promise<ChaosSubmit | undefined> {
  const { units } = await client.call(JobService.method.listUnits, { jobId, pageSize: 1 });
  const input = JSON.parse(units[0]?.input ?? '{}');
  return books.submissions.find(({ work, subjects }) => work.formatSubject(input) === subjects[0]);
}
