import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import cliProgress from 'cli-progress';
import type { Command } from 'commander';
import { type Job, type JobHold, JobSchema } from '../../../gen/gleaner/job/v1/job_pb.ts';
import { progressText } from '../../present/job.ts';
import { type EndedUnits, isStalled, remainingMs } from '../../present/remaining.ts';
import { formatDuration } from '../../present/time.ts';
import type { CommandOutput } from '../io.ts';
import { addCommand, integer } from './command.ts';
import { exitCodes } from './exit.ts';
import { count, jsonLine, plain } from './print.ts';
import { type CommandSession, findJobId } from './session.ts';

/** Progress display on standard error. */
export interface ProgressDisplay {
  job(job: Job): void;
  file(name: string, bytes: number, size: number): void;
  end(): void;
}

/**
 * Formats a job's progress as one line: "processing, 28 of 40 collected, 2 failed, 12 s left".
 * `points` are its progress until now, from which the remaining time is estimated.
 */
export function jobWords(job: Job, points: readonly EndedUnits[] = []): string {
  const { status, total, waitingFor, reason, ended, hold } = job;
  const isEstimated = !ended && waitingFor === '' && !isStalled(points);
  const ms = isEstimated ? remainingMs(points, total) : undefined;
  return plain(
    [
      `${status}, ${unitsText(job)}`,
      ms === undefined ? '' : `, ${formatDuration(ms)} left`,
      waitingFor === '' ? '' : `, ${waitingFor}`,
      reason === '' ? '' : `: ${reason}`,
      hold?.state === 'held' ? `, held: ${holdText(hold)}` : '',
    ].join(''),
  );
}

/** Describes the units of a job: "28 of 40 collected, 2 failed, 6 reused". */
export function unitsText(job: Job): string {
  const { reused = 0 } = job;
  return `${progressText(job).toLowerCase()}${reused > 0 ? `, ${count(reused)} reused` : ''}`;
}

/** Describes a hold: "price.amount in 50 % of records, minimum 99 %". */
export function holdText({ reasons }: JobHold): string {
  return reasons
    .map(
      ({ field, percent, minimum }) => `${field} in ${percent} % of records, minimum ${minimum} %`,
    )
    .join('; ');
}

/** Latest changes of a job's progress from which its remaining time is estimated. */
const maxPoints = 100;

/**
 * Records the progress of jobs. Returns a function that formats a job, with the remaining time by
 * its progress so far.
 */
function createWords(now: () => number): (job: Job) => string {
  const progress = new Map<string, EndedUnits[]>();
  return (job) => {
    const points = progress.get(job.jobId) ?? [];
    progress.set(job.jobId, points);
    const { success, failed } = job;
    const last = points.at(-1);
    const at = timestampFromMs(now());
    if (job.startedAt && (!last || last.success + last.failed < success + failed))
      points.push({ at, success, failed });
    if (points.length > maxPoints) points.shift();
    return jobWords(job, [...points, { at, success, failed }]);
  };
}

/** Creates a progress display: bars on a terminal, otherwise a line for each relevant change. */
export function showProgress(
  to: CommandOutput,
  isQuiet: boolean,
  now: () => number = Date.now,
): ProgressDisplay {
  if (isQuiet) return { job: () => {}, file: () => {}, end: () => {} };
  return to.isTTY ? bars(to, now) : lines(to, now);
}

function lines(to: CommandOutput, now: () => number): ProgressDisplay {
  const words = createWords(now);
  const printedStates = new Map<string, { at: number; status: string }>();
  const started = new Set<string>();
  return {
    job(job) {
      const text = words(job);
      const before = printedStates.get(job.jobId);
      // Counts change often: one line per 5 seconds keeps logs short.
      if (before?.status === job.status && !job.ended && now() - before.at < 5_000) return;
      printedStates.set(job.jobId, { at: now(), status: job.status });
      to.write(`${job.jobId}  ${text}\n`);
    },
    file(name, bytes, size) {
      if (started.has(name) && bytes < size) return;
      const isNew = !started.has(name);
      started.add(name);
      if (isNew && bytes < size) to.write(`${name}  ${count(size)} bytes\n`);
    },
    end: () => {},
  };
}

function bars(to: CommandOutput, now: () => number): ProgressDisplay {
  const all = new cliProgress.MultiBar(
    {
      format: '{name}  {bar} {percentage}%  {words}',
      barsize: 20,
      hideCursor: true,
      stopOnComplete: false,
      clearOnComplete: false,
      stream: to,
      gracefulExit: false,
      linewrap: false,
    },
    cliProgress.Presets.shades_classic,
  );
  const words = createWords(now);
  const barsByJob = new Map<string, cliProgress.SingleBar>();
  const bar = (name: string, total: number): cliProgress.SingleBar => {
    let found = barsByJob.get(name);
    if (found === undefined) {
      found = all.create(Math.max(1, total), 0, { name, words: '' });
      barsByJob.set(name, found);
    }
    return found;
  };
  return {
    job(job) {
      const done = job.total === 0 ? 0 : job.success + job.failed;
      bar(job.jobId.slice(0, 8), job.total).update(done, { words: words(job) });
    },
    file(name, bytes, size) {
      bar(name, size).update(Math.max(bytes, size === 0 ? 1 : 0), {
        words: `${count(bytes)}/${count(size)} bytes`,
      });
    },
    end: () => all.stop(),
  };
}

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
      if (!session.isJson)
        for (const { jobId, status } of ended) await session.write(`${jobId} ${status}\n`);
      return codeOfJobs(ended);
    },
  });
}

/**
 * Waits for jobs concurrently and shows their progress. `isPrinted`: with --json, also prints a
 * line per change.
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
  return jobs.every(({ status }) => status === 'completed')
    ? exitCodes.ok
    : exitCodes.endedWithFailures;
}
