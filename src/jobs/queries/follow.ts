import type { JobContext } from '../context.ts';

/** State of a followed job at one time. */
export interface FollowedState {
  /** Text that changes whenever the follower gets a new state. */
  mark: string;
  /** True if the job no longer changes. */
  ended: boolean;
}

/** Interval of store reads in milliseconds; changes by this process are noticed at once. */
const pollMs = 1_000;

/**
 * Yields a job's state, first now and then after each change. Ends with the job, when the signal aborts, at the time
 * `until`, or when the service stops; the latter two after a last read. Faults: those of `readState`.
 */
export async function* follow<T extends FollowedState>(
  { changes, clock }: Pick<JobContext, 'changes' | 'clock'>,
  jobId: string,
  readState: (jobId: string) => Promise<T>,
  signal: AbortSignal,
  until = Number.POSITIVE_INFINITY,
): AsyncGenerator<T, void> {
  let mark: string | null = null;
  while (!signal.aborted) {
    const isLast = changes.stopped || clock.now() >= until;
    const state = await readState(jobId);
    if (state.mark !== mark) {
      mark = state.mark;
      yield state;
    }
    if (state.ended || isLast) return;
    await changes.next(jobId, Math.min(pollMs, until - clock.now()), signal);
  }
}
