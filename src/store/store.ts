import type { AuditLogStore } from './audit-log.ts';
import type { Batch, BatchStore } from './batches.ts';
import type { Collections } from './collections.ts';
import type { Cursor, Page, PageOptions } from './cursor.ts';
import type { DestinationStore } from './destinations.ts';
import type {
  ApiKey,
  DriftRecord,
  Job,
  JobState,
  LedgerEntry,
  Mode,
  Role,
  Submission,
  User,
} from './documents.ts';
import type { ExpiryStore } from './expiry.ts';
import type { HistoryStore } from './history.ts';
import type { NoticeStore } from './notices.ts';
import type { OperationsStore } from './operations.ts';
import type { OriginStore } from './origin-state.ts';
import type { RetentionStore } from './retention.ts';
import type { ScheduleStore } from './schedules.ts';
import type { SessionStore } from './sessions.ts';

/**
 * The store port. Each method is one atomic step: a transaction in SQLite; in MongoDB an update of one
 * document, or a sequence of updates that a later call with the same arguments resumes
 * (docs/decisions/0003-ledger- protocol.md). Every method rejects with the fault `unavailable` if the
 * database does not respond. Callers must not change returned documents: they may be shared.
 */
export interface Store
  extends Omit<Collections, 'apiKeys'>,
    AccountStore,
    SessionStore,
    AuditLogStore,
    LedgerStore,
    JobStore,
    BatchStore,
    OriginStore,
    CrawlStore,
    ExpiryStore,
    RetentionStore,
    DriftStore,
    OperationsStore,
    NoticeStore,
    DestinationStore,
    ScheduleStore,
    HistoryStore {
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

/** Users. */
export interface UserStore {
  /** Inserts a user. Returns false, and changes nothing, if the id exists. */
  createUser(user: User): Promise<boolean>;
  getUser(id: string): Promise<User | null>;
  /** Returns the users that exist, in any order. */
  getUsers(ids: readonly string[]): Promise<User[]>;
  /**
   * Lists the users of a role, newest first, without erased ones and test accounts. `search` selects users
   * whose name, email address, or id contains the text, ignoring case.
   */
  listUsers(role: Role, page: PageOptions, search?: string): Promise<Page<User>>;
  /**
   * Suspends a user at `at`, or ends the suspension if `at` is null. A suspended user keeps the earlier time,
   * and a deleted user stays suspended.
   * Returns the user, or null if there is none with this id.
   */
  suspendUser(id: string, at: number | null): Promise<User | null>;
}

/** Keys of users. */
export interface KeyStore {
  /** Inserts a key. Returns false, and changes nothing, if its id or hash exists. */
  createApiKey(key: ApiKey): Promise<boolean>;
  /** Returns the key with this id, also if revoked or expired. */
  getApiKey(id: string): Promise<ApiKey | null>;
  /** Returns the key with this hash and its user, also if revoked, expired, or suspended. */
  findApiKey(hash: string): Promise<{ key: ApiKey; user: User } | null>;
  /** Records that a key was used at `at`, unless a later use is recorded. */
  touchApiKey(id: string, at: number): Promise<void>;
  /**
   * Revokes a key and returns it. A revoked key keeps the earlier time. Returns null if there is no key with
   * this id or, with `userId`, if it belongs to another user.
   */
  revokeApiKey(id: string, at: number, userId?: string): Promise<ApiKey | null>;
  /**
   * Deletes a key. Entries of the ledger keep its id. Refunds of its jobs no longer change the credits it has
   * spent.
   */
  deleteApiKey(key: Pick<ApiKey, 'id' | 'userId'>): Promise<void>;
  /** Returns the keys of a user, newest first. */
  listApiKeys(userId: string): Promise<ApiKey[]>;
}

/** Users and keys. */
export interface AccountStore extends UserStore, KeyStore {}

/** Credit ceiling of a key: `spent` is at most `max`. */
export interface SpentCeiling {
  keyId: string;
  max: number;
  spent: number;
}

/**
 * Result of posting a ledger entry. `posted: false`: nothing changed, because the balance is insufficient or,
 * with `ceiling`, because the entry's key would spend more than its credit ceiling.
 */
export type PostingResult =
  | { posted: true; balance: number }
  | { posted: false; balance: number; ceiling?: SpentCeiling };

/** Sum of the entries of one UTC day and type. */
export interface LedgerSum {
  /** Start of the UTC day in milliseconds since the epoch. */
  day: number;
  type: LedgerEntry['type'];
  amount: number;
  entries: number;
}

/** Balances and their ledger. */
export interface LedgerStore {
  /**
   * Posts an entry to the ledger and the balance exactly once per key, also across crashes: a repeated call
   * changes nothing and returns `posted: true`. Refuses a negative amount that exceeds the balance or what is
   * left of the credit ceiling of the entry's API key. The same atomic step changes the credits that this key
   * has spent, also for a refund, which names the key of its charge. Throws `not_found` for an unknown user,
   * `conflict` for a voided key.
   */
  postLedgerEntry(entry: LedgerEntry): Promise<PostingResult>;
  /**
   * Returns the posted entry with this key, or voids the key and returns null. Neither a concurrent nor a
   * later call can post a voided key.
   */
  voidLedgerKey(key: string, userId: string, at: number): Promise<LedgerEntry | null>;
  /** Returns true if voidLedgerKey() voided the key. */
  isLedgerKeyVoid(key: string): Promise<boolean>;
  /** Returns the entry with this key if it counts in the balance. */
  getLedgerEntry(key: string): Promise<LedgerEntry | null>;
  /** Lists the entries of a user, or of all users if null, that count in balances, newest first. */
  listLedgerEntries(userId: string | null, page: PageOptions): Promise<Page<LedgerEntry>>;
  /** Returns the sums of a user's entries created at `since` or later, by UTC day and type, in any order. */
  sumLedger(userId: string, since: number): Promise<LedgerSum[]>;
  /** Empties up to `limit` notes of a user's entries. Returns their number. */
  emptyNotes(userId: string, limit: number): Promise<number>;
  /** Completes or deletes the entries that a crash before `before` left half-posted. Returns their number. */
  repairLedger(before: number): Promise<number>;
  /**
   * Yields each account with its balance and the sum of its entries. The two are equal unless the data is
   * corrupt. The sum is null for an account that changed during each of many attempts to read it.
   */
  auditAccounts(): AsyncIterable<AuditedAccount>;
}

/** An account and the sum of its entries. Null if it was not audited. */
export interface AuditedAccount {
  userId: string;
  balance: number;
  sum: number | null;
  entries: number;
}

/** Fields that moveJob() can write together with the state. */
export type JobPatch = Partial<
  Pick<
    Job,
    | 'decideBy'
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

/** Filter for listJobs(). */
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

/** Sequences and idempotency keys. */
export interface SubmissionStore {
  /** Returns the next integer of a named sequence, starting at 1. Each call returns another number. */
  nextNumber(sequence: string): Promise<number>;
  /**
   * Claims an idempotency key. Returns null if the key was free or its record was created before
   * `expiredBefore`, otherwise the existing record.
   */
  claimSubmission(submission: Submission, expiredBefore: number): Promise<Submission | null>;
  /** Stores the first response under its idempotency key. */
  completeSubmission(userId: string, idempotencyKey: string, response: string): Promise<void>;
  /** Marks a submission without a response as ended with an error. */
  markSubmissionInterrupted(userId: string, idempotencyKey: string): Promise<void>;
  /** Releases the idempotency key of a submission without a response. */
  deleteSubmission(userId: string, idempotencyKey: string): Promise<void>;
}

/** Jobs. */
export interface JobStore extends SubmissionStore {
  /**
   * Writes a job and its batches, batches first, so that a readable job is complete. A repeated call with the
   * same job id changes nothing. Consumes the iterable while writing.
   */
  createJob(job: Job, batches: Iterable<Batch>): Promise<void>;
  /** Deletes a job in the state `discarding` and its batches. Returns false for a job in another state. */
  discardJob(jobId: string): Promise<boolean>;
  getJob(jobId: string): Promise<Job | null>;
  getJobByNumber(number: number): Promise<Job | null>;
  /** Lists jobs, newest first. */
  listJobs(filter: JobFilter, page: PageOptions): Promise<Page<Job>>;
  /**
   * Moves a job from one of the states `from` to `to`, sets `stateSince` to `at`, and writes the patch.
   * Returns the updated job, or null if it is in none of the states because another caller moved it.
   */
  moveJob(
    jobId: string,
    from: readonly JobState[],
    to: JobState,
    at: number,
    patch?: JobPatch,
  ): Promise<Job | null>;
  /**
   * Returns jobs that have been in one of `states` since before `since`, ordered by `stateSince` and id,
   * starting after the cursor.
   */
  findJobs(states: readonly JobState[], since: number, limit: number, after?: Cursor | null): Promise<Job[]>;
  /**
   * Returns `awaiting_approval` jobs whose `decideBy` is at or before `now`, ordered by `decideBy` and id,
   * starting after the cursor.
   */
  findExpiredApprovals(now: number, limit: number, after?: Cursor | null): Promise<Job[]>;
  /** Counts the live jobs in each of `states`, by kind. */
  countJobsByState(states: readonly JobState[]): Promise<{ kind: string; state: JobState; jobs: number }[]>;
  /**
   * Deletes batches whose job was created before `before` and never completely written, and batches of jobs
   * whose deletion was interrupted. Returns their number.
   */
  deleteOrphanedBatches(before: number): Promise<number>;
}

/** A cached page. */
export interface Crawl {
  /** Time of the crawl. */
  at: number;
  /** The record, or a reference to the file of a listing (src/jobs/steps/read-listing.ts). */
  body: Uint8Array;
}

/**
 * Recently crawled pages, for jobs that accept them instead of a new crawl (`max_age`, docs/freshness.md, and
 * `rescrape=false`, docs/kinds/product-page-csv.md).
 */
export interface CrawlStore {
  /** Stores the page crawled at `at` under `key`, unless a newer page is stored. */
  putCrawl(key: string, at: number, body: Uint8Array): Promise<void>;
  /**
   * Returns the page stored under `key`, and the time of its crawl, if it was crawled at `since` or later.
   */
  findCrawl(key: string, since: number): Promise<Crawl | null>;
}

/** Statistics of listed fields, over all workers. */
export interface DriftStore {
  /** Returns the record of one kind of a market's pages, null before the first. */
  getDrift(market: string, page: string): Promise<DriftRecord | null>;
  /**
   * Stores a record if its revision follows the stored one (1 for the first record). Returns false, and
   * changes nothing, if another writer was faster.
   */
  putDrift(record: DriftRecord): Promise<boolean>;
  /** Lists all records by market and page. */
  listDrift(): Promise<DriftRecord[]>;
}
