import { Fault } from '../base/fault.ts';
import type { JobContext } from './context.ts';

/** A readState at a job: what watchers are given, and what tells it from the readState before. */
export interface WatchState<T> {
  value: T;
  /** Another text whenever watchers are to be told. */
  mark: string;
  /** Nothing about the job changes any more. */
  ended: boolean;
}

/** How often the store is asked; what this process does to a job is seen at once. */
const pollMs = 1_000;

/** A job that somebody watches. */
interface Watched<T> {
  watchers: number;
  stop: AbortController;
  /** The latest readState; null before the first. */
  latest: WatchState<T> | null;
  /** Why there will be no more of them. */
  fault: Fault | null;
  /** Settled and made anew with every change. */
  change: PromiseWithResolvers<void>;
}

/**
 * Makes a watch over jobs: what it gives streams a job as it is, then again at each change, until it has
 * ended or the signal aborts. However many watch a job there is one poll of it; who reads slowly is given
 * the latest. Faults: what `readState` throws; `unavailable` when the service stops.
 */
export function createWatch<T>(
  { changes }: Pick<JobContext, 'changes'>,
  readState: (jobId: string) => Promise<WatchState<T>>,
): (jobId: string, signal: AbortSignal) => AsyncGenerator<T> {
  const jobs = new Map<string, Watched<T>>();

  const poll = async (jobId: string, job: Watched<T>) => {
    try {
      do {
        const latest = await readState(jobId);
        if (latest.mark !== job.latest?.mark) {
          job.latest = latest;
          wake(job);
        }
        if (latest.ended) return;
        await changes.next(jobId, pollMs, job.stop.signal);
        if (changes.stopped) throw new Fault('unavailable', 'The service stops: watch the job again.');
      } while (!job.stop.signal.aborted);
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
