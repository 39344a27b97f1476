import { Fault } from '../../contract/fault.ts';
import type { JobContext } from '../context.ts';
import { type FollowedState, follow } from './follow.ts';

/** State of a watched job at one time. */
export interface WatchState<T> extends FollowedState {
  value: T;
}

/** A job with watchers. */
interface Watched<T> {
  watchers: number;
  stop: AbortController;
  /** Latest state; null before the first read. */
  latest: WatchState<T> | null;
  /** Fault that ended the polling. */
  fault: Fault | null;
  /** Resolved and replaced with each change. */
  change: PromiseWithResolvers<void>;
}

/**
 * Creates a function that streams a job's state, first now and then after each change, until the job has ended or the
 * signal aborts. All watchers of a job share one poll; a slow watcher gets only the latest state. Faults: those of
 * `readState`; `unavailable` when the service stops.
 */
export function createWatch<T>(
  context: Pick<JobContext, 'changes' | 'clock'>,
  readState: (jobId: string) => Promise<WatchState<T>>,
): (jobId: string, signal: AbortSignal) => AsyncGenerator<T> {
  const jobs = new Map<string, Watched<T>>();

  const poll = async (jobId: string, job: Watched<T>) => {
    try {
      for await (const state of follow(context, jobId, readState, job.stop.signal)) {
        job.latest = state;
        wake(job);
      }
      if (job.latest?.ended || job.stop.signal.aborted) return;
      throw new Fault('unavailable', 'The service is stopping. Watch the job again.');
    } catch (error) {
      job.fault = Fault.from(error);
      wake(job);
    }
  };
  const join = (jobId: string): Watched<T> => {
    const known = jobs.get(jobId);
    // After a fault a new watcher starts a new poll, even while slow watchers have not read the fault.
    if (known?.fault === null) return known;
    const change = Promise.withResolvers<void>();
    const job: Watched<T> = { watchers: 0, stop: new AbortController(), latest: null, fault: null, change };
    jobs.set(jobId, job);
    void poll(jobId, job);
    return job;
  };

  return async function* watch(jobId, signal) {
    const job = join(jobId);
    job.watchers += 1;
    const gone = Promise.withResolvers<void>();
    const leave = () => gone.resolve();
    signal.addEventListener('abort', leave);
    try {
      let seen: WatchState<T> | null = null;
      while (!signal.aborted) {
        const { latest, fault, change } = job;
        if (latest !== seen) {
          seen = latest;
          yield latest!.value;
        } else if (latest?.ended) return;
        else if (fault) throw fault;
        else await Promise.race([change.promise, gone.promise]);
      }
    } finally {
      signal.removeEventListener('abort', leave);
      job.watchers -= 1;
      if (job.watchers === 0) {
        if (jobs.get(jobId) === job) jobs.delete(jobId);
        job.stop.abort();
      }
    }
  };
}

function wake(job: { change: PromiseWithResolvers<void> }): void {
  const { resolve } = job.change;
  job.change = Promise.withResolvers();
  resolve();
}
