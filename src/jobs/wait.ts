import type { Counts, Job } from '../store/documents.ts';
import type { JobContext } from './context.ts';

/** How long one who looks at a job waits for it. */
export interface Patience {
  /** Milliseconds; 0: not at all. */
  waitMs: number;
  /** `If-None-Match` of what the caller knows: anything else is news that ends the wait. */
  ifNoneMatch: string | undefined;
  /** Ends the wait: nobody listens any more. */
  signal: AbortSignal;
}

/** How often the store is asked; what this process does is told at once. */
const pollMs = 1_000;

/** Whether there is any use in waiting on. */
export function goesOn(context: JobContext, job: Job, until: number, signal: AbortSignal): boolean {
  const { changes, clock } = context;
  return job.finishedAt === null && clock.now() < until && !changes.stopped && !signal.aborted;
}

/** Waits until the job has ended or waiting is of no use any more; gives the job as it is then. */
export async function waitForEnd(
  context: JobContext,
  job: Job,
  until: number,
  signal: AbortSignal,
): Promise<Job> {
  let current = job;
  while (goesOn(context, current, until, signal)) current = await nextLook(context, current, until, signal);
  return current;
}

/**
 * As waitForEnd, but any change of the job or its counts since `known` ends the wait, too.
 */
export async function waitForChange(
  context: JobContext,
  job: Job,
  known: string,
  until: number,
  signal: AbortSignal,
): Promise<Job> {
  let current = job;
  while (goesOn(context, current, until, signal)) {
    current = await nextLook(context, current, until, signal);
    if ((await progressOf(context, current)) !== known) return current;
  }
  return current;
}

/** What waitForChange compares: take it before what is shown is read, so that nothing is missed between. */
export async function progressOf({ store }: JobContext, job: Job): Promise<string> {
  const counts: Counts = await store.countJob(job.id);
  return JSON.stringify([job.state, job.refunded, counts]);
}

async function nextLook(context: JobContext, job: Job, until: number, signal: AbortSignal): Promise<Job> {
  const { changes, clock, store } = context;
  await changes.next(job.id, Math.min(pollMs, until - clock.now()), signal);
  return (await store.getJob(job.id)) ?? job;
}
