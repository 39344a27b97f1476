import type { Job } from '../../gen/gleaner/job/v1/job_pb.ts';
import type { CallOptions } from './call-options.ts';
import { GleanerError } from './error.ts';
import { type ClientClock, isTransient } from './transport.ts';

/** Options of GleanerClient.wait(). */
export interface WaitOptions extends CallOptions {
  /** Called with the first state of the job and after every observed change. */
  onProgress?: ((job: Job) => void) | undefined;
  /** Milliseconds after which the call returns the job in its current state. Default: never. */
  timeoutMs?: number;
}

/** Wait of a long poll, in milliseconds. */
const longPollMs = 30_000;
/** The same with `onProgress`: a long poll ends with the job, not with every change. */
const progressPollMs = 2_000;
const minDelayMs = 500;
const maxDelayMs = 5_000;
/** Maximum outage of the service after its first response. It may be restarting. */
const maxOutageMs = 300_000;

/**
 * Polls a job until it has ended. A response that arrives immediately although a wait was requested
 * means that the service does not wait: further polls are delayed, twice as long each time until
 * something changes.
 */
export async function waitForJob(
  poll: (waitMs: number, signal: AbortSignal | undefined) => Promise<Job>,
  clock: ClientClock,
  { signal, onProgress, timeoutMs = Number.POSITIVE_INFINITY }: WaitOptions,
): Promise<Job> {
  const end = clock.now() + timeoutMs;
  const pollMs = onProgress === undefined ? longPollMs : progressPollMs;
  let seen = '';
  let delayMs = minDelayMs;
  let respondedAt = Number.NEGATIVE_INFINITY;
  // The first poll does not wait, so that onProgress is called immediately.
  for (let holdMs = 0; ; holdMs = Math.min(pollMs, Math.max(0, end - clock.now()))) {
    const polledAt = clock.now();
    const job = await poll(holdMs, signal).catch((error: unknown) => {
      if (
        error instanceof GleanerError &&
        isTransient(error) &&
        clock.now() - respondedAt < maxOutageMs
      )
        return null;
      throw error;
    });
    const now = clock.now();
    if (job === null) {
      await clock.sleep(maxDelayMs, signal);
      continue;
    }
    respondedAt = now;
    const state = stateOf(job);
    if (state !== seen) onProgress?.(job);
    if (job.ended || now >= end) return job;
    delayMs = state === seen ? Math.min(maxDelayMs, delayMs * 2) : minDelayMs;
    seen = state;
    if (now - polledAt < minDelayMs) await clock.sleep(Math.min(delayMs, end - now), signal);
  }
}

function stateOf({ status, success, failed, refunded, waitingFor }: Job): string {
  return [status, success, failed, refunded, waitingFor].join(' ');
}
