import type { AuditLogStore } from './audit-log.ts';
import type { Cursor, Page, PageOptions } from './cursor.ts';
import type { DestinationStore } from './destinations.ts';
import type {
  ApiKey,
  Batch,
  BatchReference,
  BatchSummary,
  BatchWait,
  Counts,
  DriftRecord,
  Job,
  JobState,
  Lane,
  LedgerEntry,
  Mode,
  Outcome,
  Part,
  Role,
  SoloUnit,
  StoredFile,
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
 * The store port. Each method is one atomic step: a transaction in SQLite; in MongoDB an update of one document,
 * or a sequence of updates that a later call with the same arguments resumes (docs/decisions/0003-ledger-
 * protocol.md). Every method rejects with the fault `unavailable` if the database does not respond. Callers must
 * not change returned documents: they may be shared.
 */
export interface Store
  extends AccountStore,
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
   * Returns the database's time in milliseconds since the epoch, a clock shared by all processes. SQLite uses the
   * host's clock.
   */
  time(): Promise<number>;
  /** Returns the version of the schema, which is up to date: the first call of a store migrates it. */
  schemaVersion(): Promise<number>;
  /** Closes connections and files. */
  close(): Promise<void>;
}

/** Users and keys. */
export interface AccountStore {
  /** Inserts a user. Returns false, and changes nothing, if the id exists. */
  createUser(user: User): Promise<boolean>;
  getUser(id: string): Promise<User | null>;
  /** Returns the users that exist, in any order. */
  getUsers(ids: readonly string[]): Promise<User[]>;
  /**
   * Lists the users of a role, newest first, without erased ones and test accounts. `search` selects users whose name, email address, or id contains the
   * text, ignoring case.
   */
  listUsers(role: Role, page: PageOptions, search?: string): Promise<Page<User>>;
  /**
   * Suspends a user at `at`, or ends the suspension if `at` is null. A suspended user keeps the earlier time, and a
   * deleted user stays suspended.
   * Returns the user, or null if there is none with this id.
   */
  suspendUser(id: string, at: number | null): Promise<User | null>;
  /** Inserts a key. Returns false, and changes nothing, if its id or hash exists. */
  createApiKey(key: ApiKey): Promise<boolean>;
  /** Returns the key with this id, also if revoked or expired. */
  getApiKey(id: string): Promise<ApiKey | null>;
  /** Returns the key with this hash and its user, also if revoked, expired, or suspended. */
  findApiKey(hash: string): Promise<{ key: ApiKey; user: User } | null>;
  /** Records that a key was used at `at`, unless a later use is recorded. */
  touchApiKey(id: string, at: number): Promise<void>;
  /**
   * Revokes a key and returns it. A revoked key keeps the earlier time. Returns null if there is no key with this
   * id or, with `userId`, if it belongs to another user.
   */
  revokeApiKey(id: string, at: number, userId?: string): Promise<ApiKey | null>;
  /** Deletes a key. Entries of the ledger keep its id. Refunds of its jobs no longer change the credits it has spent. */
  deleteApiKey(key: Pick<ApiKey, 'id' | 'userId'>): Promise<void>;
  /** Returns the keys of a user, newest first. */
  listApiKeys(userId: string): Promise<ApiKey[]>;
}

/** Credit ceiling of a key: `spent` is at most `max`. */
export interface SpentCeiling {
  keyId: string;
  max: number;
  spent: number;
}

/**
 * Result of posting a ledger entry. `posted: false`: nothing changed, because the balance is insufficient or, with
 * `ceiling`, because the entry's key would spend more than its credit ceiling.
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
   * changes nothing and returns `posted: true`. Refuses a negative amount that exceeds the balance or what is left of
   * the credit ceiling of the entry's API key. The same atomic step changes the credits that this key has spent, also
   * for a refund, which names the key of its charge. Faults: `not_found` for an unknown user, `conflict` for a voided key.
   */
  postLedgerEntry(entry: LedgerEntry): Promise<PostingResult>;
  /**
   * Returns the posted entry with this key, or voids the key and returns null. Neither a concurrent nor a later
   * call can post a voided key.
   */
  voidLedgerKey(key: string, userId: string, at: number): Promise<LedgerEntry | null>;
  /** Returns whether voidLedgerKey() voided the key. */
  isLedgerKeyVoid(key: string): Promise<boolean>;
  /** Returns the entry with this key if it counts in the balance. */
  getLedgerEntry(key: string): Promise<LedgerEntry | null>;
  /** Lists the entries of a user, or of all users if null, that count in balances, newest first. */
  listLedgerEntries(userId: string | null, page: PageOptions): Promise<Page<LedgerEntry>>;
  /** Returns the sums of a user's entries created at `since` or later, by UTC day and type, in any order. */
  sumLedger(userId: string, since: number): Promise<LedgerSum[]>;
  /** Completes or deletes the entries that a crash before `before` left half-posted. Returns their number. */
  repairLedger(before: number): Promise<number>;
  /**
   * Yields each account with its balance and the sum of its entries. The two are equal unless the data is corrupt. The sum
   * is null for an account that changed during each of many attempts to read it.
   */
  auditAccounts(): AsyncIterable<AuditedAccount>;
}

/** An account and the sum of its entries; null if it was not audited. */
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
  /** Jobs that retry the failed units of this job. */
  retryOf?: string;
}

/** Jobs. */
export interface JobStore {
  /**
   * Writes a job and its batches, batches first, so that a readable job is complete. A repeated call with the same
   * job id changes nothing. Consumes the iterable while writing.
   */
  createJob(job: Job, batches: Iterable<Batch>): Promise<void>;
  /** Deletes a job in the state `discarding` and its batches. Returns false for a job in another state. */
  discardJob(jobId: string): Promise<boolean>;
  getJob(jobId: string): Promise<Job | null>;
  getJobByNumber(number: number): Promise<Job | null>;
  /** Lists jobs, newest first. */
  listJobs(filter: JobFilter, page: PageOptions): Promise<Page<Job>>;
  /**
   * Moves a job from one of the states `from` to `to`, sets `stateSince` to `at`, and writes the patch. Returns
   * the updated job, or null if it is in none of the states because another caller moved it.
   */
  moveJob(
    jobId: string,
    from: readonly JobState[],
    to: JobState,
    at: number,
    patch?: JobPatch,
  ): Promise<Job | null>;
  /**
   * Returns jobs that have been in one of `states` since before `since`, ordered by `stateSince` and id, starting
   * after the cursor.
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
   * Deletes batches whose job was created before `before` and never completely written, and those of jobs whose
   * deletion was interrupted. Returns their number.
   */
  deleteOrphanedBatches(before: number): Promise<number>;
  /** Returns the next integer of a named sequence, starting at 1. Each call returns another number. */
  nextNumber(sequence: string): Promise<number>;
  /**
   * Claims an idempotency key. Returns null if the key was free or its record was created before `expiredBefore`,
   * else the existing record.
   */
  claimSubmission(submission: Submission, expiredBefore: number): Promise<Submission | null>;
  /** Stores the first response under its idempotency key. */
  completeSubmission(userId: string, idempotencyKey: string, response: string): Promise<void>;
  /** Marks a submission without a response as ended with an error. */
  markSubmissionInterrupted(userId: string, idempotencyKey: string): Promise<void>;
  /** Releases the idempotency key of a submission without a response. */
  deleteSubmission(userId: string, idempotencyKey: string): Promise<void>;
}

/**
 * Batches and the outcomes of their units. A write that names an attempt changes nothing if the batch has another.
 */
export interface BatchStore {
  /**
   * Moves up to `limit` waiting batches of a job, or of one of its regions, to `queued`, lowest `seq` first. Skips
   * batches whose `notBefore` is after `now`.
   */
  queueBatches(jobId: string, limit: number, now: number, region?: string): Promise<BatchReference[]>;
  /**
   * Moves batches that could not be published from `queued` back to `waiting`, not to be queued before
   * `notBefore`. Skips batches that have another attempt by now.
   */
  unqueueBatches(references: readonly BatchReference[], notBefore: number): Promise<void>;
  /**
   * Counts the batches of a job that are queued or claimed, and separately the queued ones that are deferred
   * beyond `now`.
   */
  countInFlight(jobId: string, now: number): Promise<InFlight>;
  /**
   * Claims a batch: increments its attempt and its count of claims without progress. Returns null unless the batch
   * is outstanding and either has the attempt `attempt` and is not claimed, or has a claim that expired before
   * `now`.
   */
  claimBatch(batchId: string, attempt: number, now: number, leaseUntil: number): Promise<ClaimedBatch | null>;
  /** Extends a claim. Returns false if the claim was lost. */
  renewBatch(batchId: string, attempt: number, leaseUntil: number): Promise<boolean>;
  /** Records the unit that the worker is about to read in isolation. Returns false if the claim was lost. */
  startSolo(batchId: string, attempt: number, solo: SoloUnit): Promise<boolean>;
  /**
   * Writes outcomes of units and the part with their records. Returns false if the claim was lost. A unit keeps
   * its first outcome, so a repeated write counts nothing twice. A new outcome lowers the count of claims
   * without progress to at most `maxStalledWithProgress`.
   */
  recordOutcomes(
    batchId: string,
    attempt: number,
    outcomes: Record<number, Outcome>,
    part: Part | null,
  ): Promise<boolean>;
  /**
   * Writes outcomes as recordOutcomes() does and ends the batch at `now`. Every unit must have an outcome by then.
   * The part, if any, contains every record of the batch and replaces the earlier parts. Returns false if the
   * claim was lost, and true without a change if this attempt has ended the batch before.
   */
  finishBatch(
    batchId: string,
    attempt: number,
    outcomes: Record<number, Outcome>,
    part: Part | null,
    file: StoredFile | null,
    now: number,
  ): Promise<boolean>;
  /**
   * Moves a claimed batch back to `queued`, not to be published before `notBefore`. Returns false if the claim was
   * lost. Unless the claim `failed`, it does not count as one without progress. `wait` replaces the batch's last wait.
   */
  releaseBatch(
    batchId: string,
    attempt: number,
    notBefore: number,
    end?: { failed?: boolean; wait?: BatchWait },
  ): Promise<boolean>;
  /** Replaces the last wait of a claimed batch. Returns false if the claim was lost. */
  setWait(batchId: string, attempt: number, wait: BatchWait | null): Promise<boolean>;
  /** Lists the waits of a job's batches that end after `now`, by end. */
  listWaits(jobId: string, now: number): Promise<BatchWait[]>;
  /**
   * Ends each outstanding unit of the job's batches in one of `states` with `outcome`, at `now`. Returns the
   * number of units. A worker's later write to such a batch has no effect.
   */
  failBatches(
    jobId: string,
    states: readonly OutstandingState[],
    outcome: Outcome,
    now: number,
  ): Promise<number>;
  /** Returns whether any batch of the job is not done. */
  hasOutstandingBatches(jobId: string): Promise<boolean>;
  /** Computes a job's counts from its batches. */
  countJob(jobId: string): Promise<Counts>;
  /** Computes the counts of several jobs by job id. Jobs without batches are left out. */
  countJobs(jobIds: readonly string[]): Promise<Map<string, Counts>>;
  /** Lists the batches of a job by `seq`, without units. */
  listBatches(jobId: string): Promise<readonly BatchSummary[]>;
  /**
   * Yields complete batches of a job by `seq`, either all or those in `seqs` (ascending), and holds only a few in
   * memory.
   */
  readBatches(jobId: string, seqs?: readonly number[]): AsyncIterable<Batch>;
  /** Returns the batch and the index of the job's first unit with this key. */
  findUnit(jobId: string, key: string): Promise<{ batch: Batch; index: number } | null>;
  /**
   * Moves up to `limit` batches whose claims expired before `now` to `queued` at `now`, the longest expired first. Each
   * batch is returned to one caller only.
   */
  requeueExpired(now: number, limit: number): Promise<BatchReference[]>;
  /**
   * Marks up to `limit` queued batches that were published before `publishedBefore`, and whose `notBefore` has passed, as
   * published at `now`, the longest published first. Each batch is returned to one caller only.
   */
  republishQueued(now: number, publishedBefore: number, limit: number): Promise<BatchReference[]>;
  /** Counts queued and claimed batches by market and lane. */
  countBacklog(): Promise<{ market: string; lane: Lane; queued: number; claimed: number }[]>;
  /**
   * Returns the time since which the oldest queued batch has been due, or null if none is due at `now`. A batch is due
   * when it was queued, and not before its `notBefore`.
   */
  findOldestDue(now: number): Promise<number | null>;
}

/** Methods of BatchStore that only read. */
export type ProgressStore = Pick<
  BatchStore,
  | 'countInFlight'
  | 'hasOutstandingBatches'
  | 'countJob'
  | 'countJobs'
  | 'listBatches'
  | 'listWaits'
  | 'readBatches'
  | 'findUnit'
  | 'countBacklog'
  | 'findOldestDue'
>;

/** A batch that was just claimed. */
export interface ClaimedBatch extends Batch {
  /** Time from which the batch was due before the claim; null if it was not published. */
  dueAt: number | null;
}

/** Batches of a job that are queued or claimed. */
export interface InFlight {
  batches: number;
  /** `batches` by region. Includes each region that has in-flight or deferred batches. */
  byRegion: ReadonlyMap<string, number>;
  /** Queued batches that must not be published yet, by region. Regions without any are left out. */
  deferred: ReadonlyMap<string, number>;
}

/** States of batches that failBatches() can end. */
export type OutstandingState = 'waiting' | 'queued' | 'claimed';

/** A stored page. */
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
  /** Returns the page stored under `key`, and the time of its crawl, if it was crawled at `since` or later. */
  findCrawl(key: string, since: number): Promise<Crawl | null>;
}

/** Statistics of listed fields, over all workers. */
export interface DriftStore {
  /** Returns the record of one kind of a market's pages, null before the first. */
  getDrift(market: string, page: string): Promise<DriftRecord | null>;
  /**
   * Stores a record if its revision follows the stored one (1 for the first record). Returns false, and changes
   * nothing, if another writer was faster.
   */
  putDrift(record: DriftRecord): Promise<boolean>;
  /** Lists all records by market and page. */
  listDrift(): Promise<DriftRecord[]>;
}
