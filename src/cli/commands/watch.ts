import type { Command } from 'commander';
import { type Job, JobSchema } from '../../../gen/gleaner/job/v1/job_pb.ts';
import { addCommand, integer } from './command.ts';
import { exitCodes } from './exit.ts';
import { type JobSource, jobsOf, operatorOption } from './jobs-source.ts';
import { jsonLine } from './print.ts';
import { showProgress } from './progress.ts';
import type { Session } from './session.ts';

/** Adds `watch`. */
export function addWatchCommand(program: Command): void {
  addCommand<{ operator?: true; timeout?: string }>(program, {
    usage: 'watch <job...>',
    about: 'Show the progress of jobs until they end (--json: one line per change)',
    options: [operatorOption, ['--timeout <seconds>', 'stop waiting after this time, with exit code 9']],
    async run(session, { operator, timeout }, ids: string[]) {
      const source = jobsOf(session, operator === true);
      const jobs = await Promise.all(ids.map((id) => source.find(id)));
      const seconds = integer('--timeout', timeout, 0);
      const ended = await watchJobs(
        session,
        source,
        jobs.map(({ jobId }) => jobId),
        { isPrinted: true, ...(timeout === undefined ? {} : { timeoutMs: seconds * 1000 }) },
      );
      if (!session.isJson) for (const job of ended) await session.write(`${job.jobId} ${job.status}\n`);
      return codeOfJobs(ended);
    },
  });
}

/** Waits for jobs concurrently and shows their progress. `isPrinted`: with --json, also prints a line per change. */
export async function watchJobs(
  session: Session,
  source: Pick<JobSource, 'wait'>,
  jobIds: readonly string[],
  { isPrinted = false, timeoutMs }: { isPrinted?: boolean; timeoutMs?: number } = {},
): Promise<Job[]> {
  const progress = showProgress(session.io.stderr, session.isJson);
  try {
    return await Promise.all(
      jobIds.map((jobId) =>
        source.wait(jobId, {
          signal: session.signal,
          ...(timeoutMs === undefined ? {} : { timeoutMs }),
          onProgress: (job) => {
            progress.job(job);
            if (session.isJson && isPrinted) void session.write(jsonLine(JobSchema, job));
          },
        }),
      ),
    );
  } finally {
    progress.end();
  }
}

/** Returns the exit code for jobs: all completed, some failed, or some not ended. */
export function codeOfJobs(jobs: readonly Job[]): number {
  if (jobs.some(({ ended }) => !ended)) return exitCodes.notEnded;
  return jobs.every(({ status }) => status === 'completed') ? exitCodes.ok : exitCodes.endedWithFailures;
}
