import { Fault } from '../contract/fault.ts';
import type { Batch } from './batches.ts';
import type { Collection, UpdateOptions, Where } from './collection.ts';
import type { DeletedJob, Job, JobState, NoticeReason, StoredFile } from './documents.ts';
import { awaitsDecision, canMove, dueOnEntry, passingStates } from './job-states.ts';

/** Fields that jobs.move() can write together with the state. */
export type JobPatch = Partial<
  Pick<
    Job,
    | 'decidedBy'
    | 'reason'
    | 'startedAt'
    | 'finishedAt'
    | 'file'
    | 'refunded'
    | 'counts'
    | 'pagesUntil'
    | 'hold'
    | 'noticeDue'
    | 'noticeAt'
  >
>;

/**
 * Jobs. They are written and removed with their batches only, and change their state by move()
 * only.
 */
export interface JobStore
  extends Pick<
    Collection<Job>,
    'get' | 'pick' | 'find' | 'list' | 'count' | 'countBy' | 'claimDue'
  > {
  update(
    where: Where<Job>,
    change: Partial<Omit<Job, 'id' | 'state' | 'stateSince'>>,
    options?: UpdateOptions<Job>,
  ): Promise<Job | null>;
  /**
   * Writes a job and its batches, batches first, so that a readable job is complete. A repeated
   * call with the same job id changes nothing. Consumes the iterable while writing.
   */
  create(job: Job, batches: Iterable<Batch>): Promise<void>;
  /**
   * Moves a job from one of the states `from` to `to`, sets `stateSince` to `at` and `dueAt` to
   * what the new state waits for, and writes the patch. Returns the updated job, or null if it is
   * in none of the states because another caller moved it.
   */
  move(
    jobId: string,
    from: readonly JobState[],
    to: JobState,
    at: number,
    patch?: JobPatch,
  ): Promise<Job | null>;
  /**
   * Deletes an ended job, of which the summary remains, or without a summary a job in the state
   * `discarding`. Its batches and the deliveries about it are deleted, too. The job is hidden and
   * the summary written in one step; a call that crashes later is completed by
   * deleteOrphanedBatches(). Returns false if there is no such job. No job can be created with the
   * id of a job that has a summary.
   */
  delete(jobId: string, summary: DeletedJob | null): Promise<boolean>;
  /**
   * Deletes batches whose job was created before `before` and never completely written, and batches
   * of jobs whose deletion was interrupted. Returns their number.
   */
  deleteOrphanedBatches(before: number): Promise<number>;
  /**
   * Returns the bytes of a user's results, or of the kept pages, in the result storage. Jobs whose
   * files are deleted do not count.
   */
  sumBytes(userId: string, of: 'results' | 'pages'): Promise<number>;
}

type Jobs = { readonly jobs: JobStore };

/** Implements jobs.move() for both engines. */
export async function moveJob(
  jobs: Pick<Collection<Job>, 'pick' | 'update'>,
  [jobId, from, to, at, patch = {}]: Parameters<JobStore['move']>,
): Promise<Job | null> {
  // The deadline of a job never changes.
  const current = awaitsDecision(to) ? await jobs.pick({ id: jobId }, ['decideBy']) : null;
  const dueAt = dueOnEntry({ state: to, decideBy: current?.decideBy ?? null }, at);
  const change = {
    ...patch,
    state: to,
    stateSince: at,
    dueAt,
  };
  return jobs.update({ id: jobId, state: { in: from } }, change, {
    relaxed: passingStates.has(to),
  });
}

/**
 * Wraps a store to reject job state transitions that the state table does not list. A job may stay
 * in its state.
 */
export function rejectInvalidTransitions<S extends Jobs>(store: S): S {
  const move: JobStore['move'] = async (jobId, from, to, at, patch) => {
    for (const name of from)
      if (!canMove(name, to)) throw new Error(`a job cannot move from ${name} to ${to}`);
    return store.jobs.move(jobId, from, to, at, patch);
  };
  return { ...store, jobs: { ...store.jobs, move } };
}

export async function findJobByNumber({ jobs }: Jobs, number: number): Promise<Job | null> {
  return (await jobs.find({ number }, { order: [] }))[0] ?? null;
}

/**
 * Marks the notice `reason` of a job as created, and schedules the `next` one; null schedules none.
 * Returns false if another notice is due, since the job's state changed: that one must not be lost.
 */
export async function advanceJobNotice(
  { jobs }: Jobs,
  jobId: string,
  reason: NoticeReason,
  next: { reason: NoticeReason; at: number } | null,
): Promise<boolean> {
  const change = { noticeDue: next?.reason ?? null, noticeAt: next?.at ?? null };
  // A message that is due again after a power failure has its delivery already.
  return (await jobs.update({ id: jobId, noticeDue: reason }, change, { relaxed: true })) !== null;
}

/**
 * Ends the hold of a job that is `held`. A release also makes the notice `released` due, in the
 * same step. Returns the job, or null if it is not held.
 */
export async function decideHold(
  { jobs }: Jobs,
  jobId: string,
  decision: 'released' | 'discarded',
  at: number,
): Promise<Job | null> {
  const hold = (await jobs.get(jobId))?.hold;
  if (hold?.state !== 'held') return null;
  const notice = decision === 'released' ? { noticeDue: 'released' as const, noticeAt: at } : {};
  const change = { hold: { ...hold, state: decision, decidedAt: at }, ...notice };
  return jobs.update({ id: jobId, 'hold.state': 'held' }, change);
}

/** Returns the merged file of an ended job. It is stored with the job before the job ends. */
export function mergedFileOf({ file, finishedAt }: Job): StoredFile | null {
  return finishedAt === null ? null : file;
}

/** Returns the credits that a job refunds for units with reused results. */
export function discountOf(
  { unitPrice, reusedUnitPrice }: Pick<Job, 'unitPrice' | 'reusedUnitPrice'>,
  reused: number,
): number {
  return reusedUnitPrice === null ? 0 : reused * (unitPrice - reusedUnitPrice);
}

/** Creates the fault for a job that was removed as abandoned while a call wrote it. */
export function removedFault(jobId: string): Fault {
  return new Fault(
    'unavailable',
    `job ${jobId} was removed as abandoned while it was being written`,
  );
}

/** Creates the fault for a new job with the id of a deleted one. */
export function deletedFault(jobId: string): Fault {
  return new Fault('conflict', `The job ${jobId} was deleted.`);
}
