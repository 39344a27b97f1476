import { namesTag } from '../contract/etag.ts';
import { formatWaited, type ResponseHeaders, tagHeader, timingHeader } from '../contract/response-headers.ts';
import type { Job } from '../store/documents.ts';
import type { JobContext } from './context.ts';

/** Options of a read that waits for changes of a job. */
export interface WaitOptions {
  /** Maximum wait in milliseconds; 0 for none. */
  waitMs: number;
  /** `If-None-Match` of the caller: the wait ends when another tag applies. */
  ifNoneMatch: string | undefined;
  /** Aborts when the caller disconnects. */
  signal: AbortSignal;
}

/** Interval of store reads in milliseconds; changes by this process are noticed at once. */
const pollMs = 1_000;

/** A view of a job whose tag is known before it is rendered. */
export interface TaggedView<T> {
  tag: string;
  render(): T | Promise<T>;
}

/**
 * Returns a view of a job, and sets its tag and the time spent waiting in the response headers. With a wait, returns when the job has ended or, if
 * the caller sent a tag, when the tag changes; at the latest when the wait expires, the caller disconnects or the
 * service stops.
 */
export async function showWhenChanged<T>(
  context: JobContext,
  job: Job,
  { waitMs, ifNoneMatch, signal, responseHeaders }: WaitOptions & { responseHeaders: ResponseHeaders },
  prepare: (job: Job) => Promise<TaggedView<T>>,
): Promise<T> {
  const { changes, clock, store } = context;
  const until = clock.now() + waitMs;
  let waitedMs = 0;
  const isWaiting = (current: Job) =>
    current.finishedAt === null && clock.now() < until && !changes.stopped && !signal.aborted;
  const next = async (current: Job) => {
    const start = clock.now();
    await changes.next(job.id, Math.min(pollMs, until - start), signal);
    waitedMs += clock.now() - start;
    if (waitedMs > 0) responseHeaders[timingHeader] = formatWaited(waitedMs);
    return (await store.getJob(job.id)) ?? current;
  };

  let current = job;
  if (ifNoneMatch === undefined) while (isWaiting(current)) current = await next(current);
  for (;;) {
    const mayWait = isWaiting(current);
    // Read before the view, so that no change in between is missed.
    let known = mayWait ? await progressOf(context, current) : '';
    const { tag, render } = await prepare(current);
    if (!mayWait || !namesTag(ifNoneMatch, tag)) {
      responseHeaders[tagHeader] = tag;
      return render();
    }
    // Polls the cheap counts and prepares the view only after they have changed.
    for (const before = known; isWaiting(current) && known === before; ) {
      current = await next(current);
      known = await progressOf(context, current);
    }
  }
}

/** Returns a text that changes with the job's state, refund and counts. */
async function progressOf({ store }: JobContext, job: Job): Promise<string> {
  return JSON.stringify([job.state, job.refunded, await store.countJob(job.id)]);
}
