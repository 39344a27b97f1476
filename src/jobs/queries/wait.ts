import { namesTag } from '../../contract/etag.ts';
import {
  formatWaited,
  type ResponseHeaders,
  tagHeader,
  timingHeader,
} from '../../contract/response-headers.ts';
import type { Job } from '../../store/documents.ts';
import type { JobContext, StoreUse } from '../context.ts';
import { follow } from './follow.ts';

/** Dependencies of this module. */
export type WaitContext = Pick<JobContext, 'changes' | 'clock'> & StoreUse<'countJob' | 'getJob'>;

/** Options of a read that waits for changes of a job. */
export interface WaitOptions {
  /** Maximum wait in milliseconds; 0 for none. */
  waitMs: number;
  /** `If-None-Match` of the caller: the wait ends when another tag applies. */
  ifNoneMatch: string | undefined;
  /** Aborts when the caller disconnects. */
  signal: AbortSignal;
}

/** A view of a job whose tag is known before it is rendered. */
export interface TaggedView<T> {
  tag: string;
  render(): T | Promise<T>;
}

/**
 * Returns a view of a job, and sets its tag and the time spent waiting in the response headers. With a wait, returns
 * when the job has ended or, if the caller sent a tag, when the tag changes; at the latest when the wait expires, the
 * caller disconnects or the service stops.
 */
export async function showWhenChanged<T>(
  context: WaitContext,
  job: Job,
  { waitMs, ifNoneMatch, signal, responseHeaders }: WaitOptions & { responseHeaders: ResponseHeaders },
  prepare: (job: Job) => Promise<TaggedView<T>>,
): Promise<T> {
  const { clock } = context;
  const start = clock.now();
  const show = async ({ tag, render }: TaggedView<T>) => {
    const waitedMs = clock.now() - start;
    if (waitMs > 0 && waitedMs > 0) responseHeaders[timingHeader] = formatWaited(waitedMs);
    responseHeaders[tagHeader] = tag;
    return render();
  };
  if (waitMs <= 0 || job.finishedAt !== null) return show(await prepare(job));

  const until = start + waitMs;
  const readState = async (jobId: string) => {
    const current = (await context.store.getJob(jobId)) ?? job;
    return { current, mark: await markOf(current), ended: current.finishedAt !== null };
  };
  // The counts are cheap: the view is prepared only after they have changed.
  const markOf = async ({ id, state, refunded }: Job) =>
    JSON.stringify([state, refunded, ifNoneMatch === undefined ? null : await context.store.countJob(id)]);

  let latest = job;
  for await (const { current } of follow(context, job.id, readState, signal, until)) {
    latest = current;
    if (ifNoneMatch === undefined) continue;
    const view = await prepare(current);
    if (!namesTag(ifNoneMatch, view.tag)) return show(view);
  }
  return show(await prepare(latest));
}
