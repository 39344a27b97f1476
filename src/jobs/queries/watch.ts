import { hash } from 'node:crypto';
import type { Clock } from '../../base/clock.ts';
import { namesTag } from '../../contract/etag.ts';
import { Fault } from '../../contract/fault.ts';
import {
  formatWaited,
  type ResponseHeaders,
  tagHeader,
  timingHeader,
} from '../../contract/response-headers.ts';
import type { JobSnapshot } from '../../kinds/kind.ts';
import { countsOf } from '../../store/batch-store.ts';
import type { Outcome } from '../../store/batches.ts';
import type { Counts, Job } from '../../store/documents.ts';
import type { JobContext } from '../context.ts';

/** State of a watched job at one time. */
export interface WatchState<T> extends FollowedState {
  value: T;
}

/** A job with watchers. */
interface Watched<T> {
  watchers: number;
  stop: AbortController;
  /** Latest state. Null before the first read. */
  latest: WatchState<T> | null;
  /** Fault that ended the polling. */
  fault: Fault | null;
  /** Resolved and replaced with each change. */
  change: PromiseWithResolvers<void>;
}

/**
 * Creates a function that streams a job's state, first now and then after each change, until the
 * job has ended. All watchers of a job share one poll; a slow watcher gets only the latest state.
 * Throws the faults of `readState`, `unavailable` when the service stops, and the reason of the
 * signal if it aborts.
 */
export function createWatch<T>(
  context: JobContext,
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
    const watchedJob = jobs.get(jobId);
    // After a fault a new watcher starts a new poll, even while slow watchers have not read the
    // fault.
    if (watchedJob?.fault === null) return watchedJob;
    const change = Promise.withResolvers<void>();
    const job: Watched<T> = {
      watchers: 0,
      stop: new AbortController(),
      latest: null,
      fault: null,
      change,
    };
    jobs.set(jobId, job);
    void poll(jobId, job);
    return job;
  };

  const leave = (jobId: string, job: Watched<T>) => {
    job.watchers -= 1;
    if (job.watchers > 0) return;
    if (jobs.get(jobId) === job) jobs.delete(jobId);
    job.stop.abort();
  };

  return async function* watch(jobId, signal) {
    const job = join(jobId);
    job.watchers += 1;
    const aborted = Promise.withResolvers<void>();
    const onAbort = () => aborted.resolve();
    signal.addEventListener('abort', onAbort);
    try {
      let previous: WatchState<T> | null = null;
      while (!signal.aborted) {
        const { latest, fault, change } = job;
        if (latest !== previous) {
          previous = latest;
          yield latest!.value;
          continue;
        }
        if (latest?.ended) return;
        if (fault) throw fault;
        await Promise.race([change.promise, aborted.promise]);
      }
      // A normal end would say that the job has ended.
      if (!previous?.ended) throw signal.reason;
    } finally {
      signal.removeEventListener('abort', onAbort);
      leave(jobId, job);
    }
  };
}

function wake(job: { change: PromiseWithResolvers<void> }): void {
  const { resolve } = job.change;
  job.change = Promise.withResolvers();
  resolve();
}

/** State of a followed job at one time. */
export interface FollowedState {
  /** Text that changes whenever the follower gets a new state. */
  mark: string;
  /** True if the job no longer changes. */
  ended: boolean;
}

/** Interval of store reads in milliseconds; changes by this process are noticed immediately. */
const pollMs = 1_000;

/** When follow() ends before the job does. */
interface FollowEnd {
  /** Time in milliseconds. Default: never. */
  until?: number;
  early?: AbortSignal | undefined;
}

/**
 * Yields a job's state, first now and then after each change. Ends with the job, when the signal
 * aborts, when `early` does, at the time `until`, or when the service stops; the latter three after
 * a last read. Throws the faults of `readState`.
 */
async function* follow<T extends FollowedState>(
  { changes, clock }: JobContext,
  jobId: string,
  readState: (jobId: string) => Promise<T>,
  signal: AbortSignal,
  { until = Number.POSITIVE_INFINITY, early }: FollowEnd = {},
): AsyncGenerator<T, void> {
  const ended = early === undefined ? signal : AbortSignal.any([signal, early]);
  let mark: string | null = null;
  while (!signal.aborted) {
    const isLast = changes.stopped || early?.aborted === true || clock.steady() >= until;
    const state = await readState(jobId);
    if (state.mark !== mark) {
      mark = state.mark;
      yield state;
    }
    if (state.ended || isLast) return;
    await changes.next(jobId, Math.min(pollMs, until - clock.steady()), ended);
  }
}

/** Options of a read that waits for changes of a job. */
export interface JobWaitOptions {
  /** Maximum wait in milliseconds; 0 for none. */
  waitMs: number;
  /** `If-None-Match` of the caller: the wait ends when another tag applies. */
  ifNoneMatch: string | undefined;
  /** Aborts when the caller disconnects. */
  signal: AbortSignal;
  /** Ends the wait early when it aborts. */
  early?: AbortSignal | undefined;
}

/** A view of a job whose tag is known before it is rendered. */
export interface TaggedView<T> {
  tag: string;
  render(): T | Promise<T>;
}

/**
 * Returns a view of a job, and sets its tag and the time spent waiting in the response headers.
 * With a wait, returns when the job has ended or, if the caller sent a tag, when the tag changes;
 * at the latest when the wait expires, the caller disconnects, `early` aborts, or the service
 * stops.
 */
export async function showWhenChanged<T>(
  context: JobContext,
  job: Job,
  {
    waitMs,
    ifNoneMatch,
    signal,
    early,
    responseHeaders,
  }: JobWaitOptions & { responseHeaders: ResponseHeaders },
  prepare: (job: Job) => Promise<TaggedView<T>>,
): Promise<T> {
  const { clock } = context;
  const start = clock.steady();
  const show = async ({ tag, render }: TaggedView<T>) => {
    const waitedMs = clock.steady() - start;
    if (waitMs > 0 && waitedMs > 0) responseHeaders[timingHeader] = formatWaited(waitedMs);
    responseHeaders[tagHeader] = tag;
    return render();
  };
  if (waitMs <= 0 || job.finishedAt !== null) return show(await prepare(job));

  const until = start + waitMs;
  const readState = async (jobId: string) => {
    const current = (await context.store.jobs.get(jobId)) ?? job;
    return { current, mark: await markOf(current), ended: current.finishedAt !== null };
  };
  // The counts are cheap: the view is prepared only after they have changed.
  const markOf = async ({ id, state, refunded }: Job) =>
    JSON.stringify([
      state,
      refunded,
      ifNoneMatch === undefined ? null : await countsOf(context.store, id),
    ]);

  let latest = job;
  for await (const { current } of follow(context, job.id, readState, signal, { until, early })) {
    latest = current;
    if (ifNoneMatch === undefined) continue;
    const view = await prepare(current);
    if (!namesTag(ifNoneMatch, view.tag)) return show(view);
  }
  return show(await prepare(latest));
}

const dayMs = 24 * 3_600_000;

/**
 * Returns the weak entity tag of a snapshot. It changes with the job's state, counts, refund, file
 * and wait. Signed links differ in each response and are not covered; since they expire after 7
 * days, a tag is valid for at most one day, so that the links of a cached response are valid for at
 * least 6.
 */
export function tagOf(
  clock: Clock,
  snapshot: JobSnapshot,
  waitingFor: string | null = null,
): string {
  return jobTag(clock, snapshot.job, [countsIn(snapshot), outcomeIn(snapshot), waitingFor]);
}

/** Returns the weak entity tag of a response with a job and further `details`. */
export function jobTag(clock: Clock, job: Job, details: unknown): string {
  const { state, refunded, reason, file } = job;
  const day = Math.floor(clock.now() / dayMs);
  const text = JSON.stringify([
    job.id,
    state,
    refunded,
    reason,
    file?.sha256 ?? null,
    details,
    day,
  ]);
  return `W/"${hash('sha256', text, 'base64url').slice(0, 22)}"`;
}

/**
 * Returns the progress in the parts that the view needs. Outcomes are only added, so counts
 * identify them.
 */
function countsIn({ counts, batches, units }: JobSnapshot): Counts | number[] | null {
  if (counts !== undefined) return counts;
  if (batches !== undefined) {
    const sums = [0, 0, 0];
    for (const { success, failed, state } of batches) {
      sums[0]! += success;
      sums[1]! += failed;
      if (state === 'done') sums[2]! += 1;
    }
    return sums;
  }
  if (units === undefined) return null;
  const done = new Set(units.flatMap(({ batch }) => (batch.state === 'done' ? [batch.id] : [])));
  const success = units.filter(({ outcome }) => outcome?.status === 'SUCCESS').length;
  const failed = units.filter(({ outcome }) => outcome?.status === 'FAILED').length;
  return [success, failed, done.size];
}

function outcomeIn({ unit }: JobSnapshot): Outcome | null {
  return unit?.outcome ?? null;
}
