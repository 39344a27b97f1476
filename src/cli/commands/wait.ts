import type { Command } from 'commander';
import { type Job, JobSchema } from '../../../gen/gleaner/job/v1/job_pb.ts';
import { addCommand, integer } from './command.ts';
import { exitCodes } from './exit.ts';
import { jsonLine } from './print.ts';
import { showProgress } from './progress.ts';
import { findJobId } from './reference.ts';
import type { CommandSession } from './session.ts';

/** Adds `job wait`. */
export function addWaitCommand(job: Command): void {
  addCommand<{ timeout?: string }>(job, {
    usage: 'wait <job...>',
    about: 'Show the progress of jobs until they end (--json: one line per change)',
    options: [['--timeout <seconds>', 'stop waiting after this time, with exit code 9']],
    as: 'either',
    async run(session, { timeout }, references: string[]) {
      const seconds = integer('--timeout', timeout, 0);
      const jobIds = await Promise.all(references.map((text) => findJobId(session, text)));
      const ended = await waitForJobs(session, jobIds, {
        isPrinted: true,
        ...(timeout === undefined ? {} : { timeoutMs: seconds * 1000 }),
      });
      if (!session.isJson) for (const { jobId, status } of ended) await session.write(`${jobId} ${status}\n`);
      return codeOfJobs(ended);
    },
  });
}

/**
 * Waits for jobs concurrently and shows their progress. `isPrinted`: with --json, also prints a line per
 * change.
 */
export async function waitForJobs(
  { client, io, isJson, write }: CommandSession,
  jobIds: readonly string[],
  { isPrinted = false, ...options }: { isPrinted?: boolean; timeoutMs?: number } = {},
): Promise<Job[]> {
  const progress = showProgress(io.stderr, isJson);
  const onProgress = (job: Job) => {
    progress.job(job);
    if (isJson && isPrinted) void write(jsonLine(JobSchema, job));
  };
  try {
    return await Promise.all(jobIds.map((jobId) => client.wait(jobId, { ...options, onProgress })));
  } finally {
    progress.end();
  }
}

/** Returns the exit code for jobs: all completed, some failed, or some not ended. */
export function codeOfJobs(jobs: readonly Job[]): number {
  if (jobs.some(({ ended }) => !ended)) return exitCodes.notEnded;
  return jobs.every(({ status }) => status === 'completed') ? exitCodes.ok : exitCodes.endedWithFailures;
}
