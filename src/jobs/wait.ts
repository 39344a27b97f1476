import { namesTag } from '../contract/etag.ts';
import { type ResponseHeaders, tagHeader } from '../contract/response-headers.ts';
import type { Job } from '../store/documents.ts';
import type { JobContext } from './context.ts';

/** How long one who looks at a job waits for it. */
export interface WaitOptions {
  /** Milliseconds; 0: not at all. */
  waitMs: number;
  /** `If-None-Match` of what the caller knows: anything else is news that ends the wait. */
  ifNoneMatch: string | undefined;
  /** Ends the wait: nobody listens any more. */
  signal: AbortSignal;
}

/** How often the store is asked; what this process does is told at once. */
const pollMs = 1_000;

/** What is shown of a job: known by a tag before it is rendered. */
export interface TaggedView<T> {
  tag: string;
  render(): T | Promise<T>;
}

/**
 * Shows a job with its tag among the answer's headers. With patience it does so once the job has ended, or with
 * a tag at hand once another one holds; at the latest when the time is over, nobody listens any more or the
 * service stops.
 */
export async function showWhenChanged<T>(
  context: JobContext,
  job: Job,
  { waitMs, ifNoneMatch, signal, responseHeaders }: WaitOptions & { responseHeaders: ResponseHeaders },
  look: (job: Job) => Promise<TaggedView<T>>,
): Promise<T> {
  const { changes, clock, store } = context;
  const until = clock.now() + waitMs;
  const goesOn = (current: Job) =>
    current.finishedAt === null && clock.now() < until && !changes.stopped && !signal.aborted;
  const next = async (current: Job) => {
    await changes.next(job.id, Math.min(pollMs, until - clock.now()), signal);
    return (await store.getJob(job.id)) ?? current;
  };

  let current = job;
  if (ifNoneMatch === undefined) while (goesOn(current)) current = await next(current);
  for (;;) {
    const waits = goesOn(current);
    // Taken before what is shown is read, so that no change is missed between.
    let known = waits ? await progressOf(context, current) : '';
    const { tag, render } = await look(current);
    if (!waits || !namesTag(ifNoneMatch, tag)) {
      responseHeaders[tagHeader] = tag;
      return render();
    }
    // What is asked for again and again is cheap; the whole is looked at only when that has changed.
    for (const before = known; goesOn(current) && known === before; ) {
      current = await next(current);
      known = await progressOf(context, current);
    }
  }
}

/** How far a job is: another text whenever its state, refunds or counts have changed. */
async function progressOf({ store }: JobContext, job: Job): Promise<string> {
  return JSON.stringify([job.state, job.refunded, await store.countJob(job.id)]);
}
