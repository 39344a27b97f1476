import type { Job } from '../../gen/gleaner/job/v1/job_pb.ts';
import type { Clock } from '../base/clock.ts';
import type { CallOptions } from './client.ts';
import { GleanerError } from './error.ts';
import { isPassing } from './transport.ts';

/** How a job is waited for. */
export interface WaitOptions extends CallOptions {
  /** Told of the job as it is at first, and at every change that is seen. */
  onProgress?: (job: Job) => void;
  /** Milliseconds after which waiting is given up, by the job as it is then; without it, never. */
  timeoutMs?: number;
}

/** Milliseconds that the service is asked to hold an answer back for. */
const longPollMs = 30_000;
/** With somebody who looks on: the service holds an answer back until the end, whatever changes before. */
const watchedPollMs = 2_000;
const shortestMs = 500;
const longestMs = 5_000;
/** A service that has answered before may be away for so long: it is being started anew. */
const awayMs = 300_000;

/**
 * Asks for a job until it has ended. An answer that came at once though the service was asked to hold it back
 * says that it does not do that: then the next one is asked for after a wait, longer each time until
 * something changes. Once it has answered, it may be away for five minutes.
 */
export async function waitForJob(
  ask: (waitMs: number, signal: AbortSignal | undefined) => Promise<Job>,
  clock: Clock,
  { signal, onProgress, timeoutMs = Number.POSITIVE_INFINITY }: WaitOptions,
): Promise<Job> {
  const end = clock.now() + timeoutMs;
  const pollMs = onProgress === undefined ? longPollMs : watchedPollMs;
  let seen = '';
  let waitMs = shortestMs;
  let answered = Number.NEGATIVE_INFINITY;
  // The first answer is wanted at once: somebody may be looking on.
  for (let holdMs = 0; ; holdMs = Math.min(pollMs, Math.max(0, end - clock.now()))) {
    const asked = clock.now();
    const job = await ask(holdMs, signal).catch((error: unknown) => {
      if (error instanceof GleanerError && isPassing(error) && clock.now() - answered < awayMs) return null;
      throw error;
    });
    const now = clock.now();
    if (job === null) {
      await clock.sleep(longestMs, signal);
      continue;
    }
    answered = now;
    const state = stateOf(job);
    if (state !== seen) onProgress?.(job);
    if (job.ended || now >= end) return job;
    waitMs = state === seen ? Math.min(longestMs, waitMs * 2) : shortestMs;
    seen = state;
    if (now - asked < shortestMs) await clock.sleep(Math.min(waitMs, end - now), signal);
  }
}

function stateOf({ status, success, failed, refunded, waitingFor }: Job): string {
  return [status, success, failed, refunded, waitingFor].join(' ');
}
