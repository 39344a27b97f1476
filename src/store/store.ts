import type { Batch, BatchStore } from './batches.ts';
import type { Collections } from './collections.ts';
import type { Page, PageOptions } from './cursor.ts';
import type { Job, JobState, Mode } from './documents.ts';
import type { KeyStore } from './keys.ts';
import type { LedgerStore } from './ledger.ts';
import type { JobNoticeStore } from './notices.ts';
import type { OriginStore } from './origin-state.ts';
import type { FileRetention } from './retention.ts';

/**
 * The store port: the declared collections, and the parts with queries of their own in each engine. Rules of
 * several steps are functions in the modules beside this one. Each method is one atomic step: a transaction
 * in SQLite; in MongoDB an update of one document, or a sequence of updates that a later call with the same
 * arguments resumes (docs/decisions/0003-ledger-protocol.md). Every method rejects with the fault
 * `unavailable` if the database does not respond. Callers must not change returned documents: they may be
 * shared.
 */
export interface Store extends Omit<Collections, 'apiKeys'> {
  readonly jobs: JobStore & JobNoticeStore & FileRetention;
  readonly batches: BatchStore;
  readonly apiKeys: KeyStore;
  readonly ledger: LedgerStore;
  readonly origins: OriginStore;
  /** Display name of the database: "SQLite" or "MongoDB". */
  readonly engine: string;
  /** Resolves if the database responds. Throws a DataRefusedError if this program must not use it. */
  ping(): Promise<void>;
  /**
   * Returns the database's time in milliseconds since the epoch, a clock shared by all processes. SQLite uses
   * the host's clock.
   */
  time(): Promise<number>;
  /** Returns the version of the schema, which is up to date: the first call of a store migrates it. */
  schemaVersion(): Promise<number>;
  /** Closes connections and files. */
  close(): Promise<void>;
}

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

/** Filter for jobs.list(). */
export interface JobFilter {
  userId?: string;
  /** Any of these owners. */
  userIds?: readonly string[];
  kind?: string;
  market?: string;
  mode?: Mode;
  states?: readonly JobState[];
  /** Text that the name contains, ignoring case. */
  name?: string;
  /** Jobs that retry the failed units of this job. */
  retryOf?: string;
  /** Jobs that read the kept pages of this job again. */
  rereadOf?: string;
}

/** Jobs. */
export interface JobStore {
  /**
   * Writes a job and its batches, batches first, so that a readable job is complete. A repeated call with the
   * same job id changes nothing. Consumes the iterable while writing.
   */
  create(job: Job, batches: Iterable<Batch>): Promise<void>;
  /** Deletes a job in the state `discarding` and its batches. Returns false for a job in another state. */
  discard(jobId: string): Promise<boolean>;
  get(jobId: string): Promise<Job | null>;
  getByNumber(number: number): Promise<Job | null>;
  /** Lists jobs, newest first. */
  list(filter: JobFilter, page: PageOptions): Promise<Page<Job>>;
  /**
   * Moves a job from one of the states `from` to `to`, sets `stateSince` to `at` and `dueAt` to what the new
   * state waits for, and writes the patch. Returns the updated job, or null if it is in none of the states
   * because another caller moved it.
   */
  move(
    jobId: string,
    from: readonly JobState[],
    to: JobState,
    at: number,
    patch?: JobPatch,
  ): Promise<Job | null>;
  /**
   * Claims up to `limit` jobs that are due at `now`, the longest due first, without those in the states
   * `except`. Makes them due again as their states say (dueAfterClaim()), or not at all. Each goes to one
   * caller. Returns them in the order in which they were due.
   */
  claimDue(now: number, limit: number, except?: readonly JobState[]): Promise<Job[]>;
  /**
   * Makes jobs due that are not due in time, because a program without due times moved them. Returns their
   * number.
   */
  repairDueTimes(now: number): Promise<number>;
  /** Returns true if a job is in one of the states. */
  has(states: readonly JobState[]): Promise<boolean>;
  /** Counts the live jobs in each of `states`, by kind. */
  countByState(states: readonly JobState[]): Promise<{ kind: string; state: JobState; jobs: number }[]>;
  /**
   * Deletes batches whose job was created before `before` and never completely written, and batches of jobs
   * whose deletion was interrupted. Returns their number.
   */
  deleteOrphanedBatches(before: number): Promise<number>;
}
