import { timestampMs } from '@bufbuild/protobuf/wkt';
import cliProgress from 'cli-progress';
import type { Job } from '../../../gen/gleaner/job/v1/job_pb.ts';
import type { Output } from '../io.ts';
import { count, plain, span } from './print.ts';

/** Progress display on standard error. */
export interface Progress {
  job(job: Job): void;
  file(name: string, bytes: number, size: number): void;
  /** Ends the display. */
  end(): void;
}

/** Estimates the remaining seconds of a job from its rate so far; undefined before the first units and during a wait. */
export function secondsLeft(
  { startedAt, success, failed, total, ended, waitingFor }: Job,
  nowMs: number,
): number | undefined {
  if (ended) return 0;
  const done = success + failed;
  if (startedAt === undefined || done === 0 || waitingFor !== '') return undefined;
  return ((nowMs - timestampMs(startedAt)) / 1000 / done) * (total - done);
}

/** Formats a job's progress as one line: "processing 30/40, 2 failed, 0:12 left, waiting for mkta/id". */
export function jobWords(job: Job, nowMs: number): string {
  const { status, success, failed, total, waitingFor, reason, ended } = job;
  const seconds = ended ? undefined : secondsLeft(job, nowMs);
  const left = seconds === undefined ? '' : `, ${span(seconds)} left`;
  return plain(
    [
      `${status} ${count(success + failed)}/${count(total)}`,
      failed > 0 ? `, ${count(failed)} failed` : '',
      left,
      waitingFor === '' ? '' : `, ${waitingFor}`,
      reason === '' ? '' : `: ${reason}`,
    ].join(''),
  );
}

/** Creates a progress display: bars on a terminal, otherwise a line for each relevant change. */
export function showProgress(to: Output, isQuiet: boolean, now: () => number = Date.now): Progress {
  if (isQuiet) return { job: () => {}, file: () => {}, end: () => {} };
  return to.isTTY ? bars(to, now) : lines(to, now);
}

function lines(to: Output, now: () => number): Progress {
  const said = new Map<string, { at: number; status: string }>();
  const started = new Set<string>();
  return {
    job(job) {
      const before = said.get(job.jobId);
      // Counts change often: one line per 5 seconds keeps logs short.
      if (before?.status === job.status && !job.ended && now() - before.at < 5_000) return;
      said.set(job.jobId, { at: now(), status: job.status });
      to.write(`${job.jobId}  ${jobWords(job, now())}\n`);
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

function bars(to: Output, now: () => number): Progress {
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
  const known = new Map<string, cliProgress.SingleBar>();
  const bar = (name: string, total: number): cliProgress.SingleBar => {
    let found = known.get(name);
    if (found === undefined) {
      found = all.create(Math.max(1, total), 0, { name, words: '' });
      known.set(name, found);
    }
    return found;
  };
  return {
    job(job) {
      const done = job.total === 0 ? 0 : job.success + job.failed;
      bar(job.jobId.slice(0, 8), job.total).update(done, { words: jobWords(job, now()) });
    },
    file(name, bytes, size) {
      bar(name, size).update(Math.max(bytes, size === 0 ? 1 : 0), {
        words: `${count(bytes)}/${count(size)} bytes`,
      });
    },
    end: () => all.stop(),
  };
}
