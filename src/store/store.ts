import type {
  ApiKey,
  Batch,
  BatchReference,
  BatchSummary,
  Counts,
  DriftRecord,
  Job,
  JobState,
  Lane,
  LedgerEntry,
  Outcome,
  Part,
  Role,
  SoloUnit,
  StoredFile,
  Submission,
  User,
} from './documents.ts';
import type { ExpiryStore } from './expiry.ts';
import type { NoticeStore } from './notices.ts';
import type { OperationsStore } from './operations.ts';
import type { OriginStore } from './origin-state.ts';
import type { WaitStore } from './waits.ts';

/**
 * The store port: intents, each one atomic step. In SQLite a step is a transaction; in MongoDB it is
 * one update on one document, or an order of them that any later call with the same arguments
 * resumes (DESIGN, "Truth, queue, and what happens once"). Faults: `unavailable` when the engine
 * does not answer. Documents may be shared with other callers: they must not be changed.
 */
export interface Store
  extends AccountStore,
    LedgerStore,
    JobStore,
    BatchStore,
    OriginStore,
    WaitStore,
    CrawlStore,
    ExpiryStore,
    LegacyRecordStore,
    DriftStore,
    OperationsStore,
    NoticeStore {
  /** Name of the engine, for people: "SQLite", "MongoDB". */
  readonly engine: string;
  /** Resolves when the engine answers; rejects with `unavailable`. */
  ping(): Promise<void>;
  /**
   * Returns the engine's time in milliseconds since the epoch: one clock for all processes. The embedded
   * store has the host's.
   */
  time(): Promise<number>;
  /** Releases connections and files. */
  close(): Promise<void>;
}

/** A page of a list, newest first. `next` continues it; null on the last page. */
export interface Page<T> {
  items: T[];
  next: string | null;
}

/** Which page of a list is wanted. `after` is the `next` of the page before. */
export interface PageRequest {
  limit: number;
  after?: string | null;
}

/** Users and keys. */
export interface AccountStore {
  /** Keeps a new user; false when the id is taken: nothing is changed then. */
  createUser(user: User): Promise<boolean>;
  getUser(id: string): Promise<User | null>;
  /** Those of these users that there are, in any order. */
  getUsers(ids: readonly string[]): Promise<User[]>;
  /** Users of a role, newest first; with `search` those whose name, address or id holds it as it is, in
   *  whatever case. */
  listUsers(role: Role, page: PageRequest, search?: string): Promise<Page<User>>;
  /** Suspends a user as of `at`, or lets it in again with null, and gives it back; one that is suspended
   *  stays so as of then. Null when there is none with this id. */
  suspendUser(id: string, at: number | null): Promise<User | null>;
  /** Keeps a new key; false when its hash is taken: nothing is changed then. */
  createApiKey(key: ApiKey): Promise<boolean>;
  /** The key with this hash and its user, whatever their condition. */
  findApiKey(hash: string): Promise<{ key: ApiKey; user: User } | null>;
  /** Keeps that a key was used at `at`, unless it was used later. */
  touchApiKey(id: string, at: number): Promise<void>;
  /** Marks a key revoked and gives it back; a revoked key stays as it was. Null when there is none
   *  with this id, or, with `userId`, none of this user. */
  revokeApiKey(id: string, at: number, userId?: string): Promise<ApiKey | null>;
  /** Keys of a user, newest first. */
  listApiKeys(userId: string): Promise<ApiKey[]>;
}

/** What posting an entry came to. `posted: false` when credits are short; nothing is changed then. */
export type PostingResult = { posted: true; balance: number } | { posted: false; balance: number };

/** Entries of one day and type, added up. */
export interface LedgerSum {
  /** Beginning of the UTC day: milliseconds since the epoch. */
  day: number;
  type: LedgerEntry['type'];
  amount: number;
  entries: number;
}

/** Balances and their ledger. */
export interface LedgerStore {
  /**
   * Enters `entry` in the ledger and the balance, once per key whatever crashes: a second call with
   * the same key changes nothing and says `posted`. A negative amount that the balance does not
   * cover is refused. Faults: `not_found` when the user does not exist, `conflict` when the key was voided.
   */
  postLedgerEntry(entry: LedgerEntry): Promise<PostingResult>;
  /**
   * Settles whether an entry is posted: returns the entry with the key, or voids the key and returns null. A
   * voided key is never posted, whatever call is under way or comes later.
   */
  voidLedgerKey(key: string, userId: string, at: number): Promise<LedgerEntry | null>;
  /** Whether voidLedgerKey voided the key. */
  isLedgerKeyVoid(key: string): Promise<boolean>;
  /** The entry with this key, if it counts in the balance. */
  getLedgerEntry(key: string): Promise<LedgerEntry | null>;
  /** Entries of a user, or of all with null, that count in balances; newest first. */
  listLedgerEntries(userId: string | null, page: PageRequest): Promise<Page<LedgerEntry>>;
  /** Sums of a user's entries that count in the balance, by UTC day and type; those made since `since`.
   *  In no order. */
  sumLedger(userId: string, since: number): Promise<LedgerSum[]>;
  /** Finishes or drops entries that a crash left half posted before `before`; gives their number. */
  repairLedger(before: number): Promise<number>;
  /** Every account with its balance and the sum of its entries: equal, or something is wrong. */
  auditAccounts(): AsyncIterable<{ userId: string; balance: number; sum: number; entries: number }>;
}

/** What a transition may write beside the state. */
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
    | 'noticeDue'
    | 'noticeAt'
  >
>;

/** Which jobs a list holds. */
export interface JobFilter {
  userId?: string;
  /** Owners of whom any will do. */
  userIds?: readonly string[];
  kind?: string;
  market?: string;
  states?: readonly JobState[];
  /** Jobs that try this one's failed units again. */
  retryOf?: string;
}

/** Place of a job in a list that is ordered by a time and then by id. */
export interface Cursor {
  at: number;
  id: string;
}

/** Jobs. */
export interface JobStore {
  /**
   * Keeps a job and its batches, batches first, so that a job that can be read is whole. A second
   * call with the same job id changes nothing. The iterable is consumed as it is written.
   */
  createJob(job: Job, batches: Iterable<Batch>): Promise<void>;
  /** Removes a job that is `discarding`, with its batches; false when it is not. */
  discardJob(jobId: string): Promise<boolean>;
  getJob(jobId: string): Promise<Job | null>;
  getJobByNumber(number: number): Promise<Job | null>;
  /** Newest first. */
  listJobs(filter: JobFilter, page: PageRequest): Promise<Page<Job>>;
  /**
   * Moves a job from one of `from` to `to`, sets `stateSince` to `at` and writes the patch; null
   * when the job is in none of them (someone else moved it). Gives the job after the move.
   */
  moveJob(
    jobId: string,
    from: readonly JobState[],
    to: JobState,
    at: number,
    patch?: JobPatch,
  ): Promise<Job | null>;
  /** Jobs that have been in one of `states` since before `since`, oldest first, by id within the same
   *  time. With `after` only those that follow the job at that place. */
  findJobs(states: readonly JobState[], since: number, limit: number, after?: Cursor | null): Promise<Job[]>;
  /** `awaiting_approval` jobs whose `decideBy` is at or before `now`, in the order of `decideBy` and id.
   *  With `after` only those that follow the job at that place. */
  findExpiredApprovals(now: number, limit: number, after?: Cursor | null): Promise<Job[]>;
  /** Removes batches whose job was never written, made before `before`; gives their number. */
  deleteOrphanedBatches(before: number): Promise<number>;
  /** Next integer of a named sequence, from 1; every caller gets another. */
  nextNumber(sequence: string): Promise<number>;
  /**
   * Takes an idempotency key. Null when it was free (or its record is from before `expiredBefore`)
   * and is now the caller's; else the record that holds it.
   */
  claimSubmission(submission: Submission, expiredBefore: number): Promise<Submission | null>;
  /** Keeps the first answer under its idempotency key. */
  completeSubmission(userId: string, idempotencyKey: string, response: string): Promise<void>;
  /** Marks an unanswered submit as ended with an error. */
  markSubmissionInterrupted(userId: string, idempotencyKey: string): Promise<void>;
  /** Frees an idempotency key whose submit came to nothing. */
  deleteSubmission(userId: string, idempotencyKey: string): Promise<void>;
}

/** Batches and what their units came to. Writes that name an attempt match that attempt only. */
export interface BatchStore {
  /** Moves up to `limit` waiting batches of a job, of one region where it is named, to `queued`, lowest
   *  `seq` first. Leaves out those whose `notBefore` is after `now`. */
  queueBatches(jobId: string, limit: number, now: number, region?: string): Promise<BatchReference[]>;
  /** Takes back batches that could not be published: those still queued under the attempt named are
   *  waiting again, not to be queued before `notBefore`. */
  unqueueBatches(references: readonly BatchReference[], notBefore: number): Promise<void>;
  /** Batches of a job that are queued or claimed, and apart from them those put off until after `now`. */
  countInFlight(jobId: string, now: number): Promise<InFlight>;
  /**
   * Claims a queued batch by raising its attempt and its count of claims without progress. Null unless the
   * batch is outstanding and either its attempt is `attempt` and it is not claimed, or its claim ended before
   * `now`.
   */
  claimBatch(batchId: string, attempt: number, now: number, leaseUntil: number): Promise<Batch | null>;
  /** Extends a claim; false when it is not this attempt's any more. */
  renewBatch(batchId: string, attempt: number, leaseUntil: number): Promise<boolean>;
  /** Keeps which unit is about to be read by itself; false when the claim is not this attempt's any more. */
  startSolo(batchId: string, attempt: number, solo: SoloUnit): Promise<boolean>;
  /**
   * Writes outcomes of some units and the part with their records; false when the claim is not this attempt's
   * any more. A unit keeps its first outcome: a write that is repeated counts nothing twice. A new outcome resets
   * the count of claims without progress.
   */
  recordOutcomes(
    batchId: string,
    attempt: number,
    outcomes: Record<number, Outcome>,
    part: Part | null,
  ): Promise<boolean>;
  /**
   * As recordOutcomes, and ends the batch as of `now`: every unit must have an outcome by then. A part given
   * here holds every record of the batch and replaces the earlier ones. False when the claim is not this attempt's any more; true, and nothing changes, when this very attempt
   * ended it.
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
   * Gives a claimed batch back as `queued`, not to be published before `notBefore`; false when the claim is not
   * this attempt's any more. The claim does not count as one without progress, unless it `failed`.
   */
  releaseBatch(batchId: string, attempt: number, notBefore: number, failed?: boolean): Promise<boolean>;
  /**
   * Ends every outstanding unit of the job's batches that are in one of `states` with `outcome`, as of
   * `now`; gives the number of units ended. A worker's later write to such a batch matches nothing.
   */
  failBatches(
    jobId: string,
    states: readonly OutstandingState[],
    outcome: Outcome,
    now: number,
  ): Promise<number>;
  /** Whether any batch of the job is not done. */
  hasOutstandingBatches(jobId: string): Promise<boolean>;
  /** Counts derived from the batches. */
  countJob(jobId: string): Promise<Counts>;
  /** The same for several jobs at once; one without batches is not among them. */
  countJobs(jobIds: readonly string[]): Promise<Map<string, Counts>>;
  /** Every batch of a job by `seq`, without units. */
  listBatches(jobId: string): Promise<readonly BatchSummary[]>;
  /** Every batch of a job by `seq`, or those at the places `seqs`, which rise; whole, read a few at a time. */
  readBatches(jobId: string, seqs?: readonly number[]): AsyncIterable<Batch>;
  /** The batch and index of the first unit of the job with this key. */
  findUnit(jobId: string, key: string): Promise<{ batch: Batch; index: number } | null>;
  /**
   * Takes up to `limit` outstanding batches that stand still: queued since before `queuedBefore`
   * and allowed by `notBefore`, or claimed with a lease that ended before `now`. Sets them `queued`
   * as of `now`; each is given to one caller only.
   */
  requeueStalled(now: number, queuedBefore: number, limit: number): Promise<BatchReference[]>;
  /** Queued batches by market and lane, and claimed ones: what operators see of the backlog. */
  countBacklog(): Promise<{ market: string; lane: Lane; queued: number; claimed: number }[]>;
}

/** Batches of a job between the queue and a worker. */
export interface InFlight {
  batches: number;
  /** The same by region: those with any in flight or put off. */
  byRegion: ReadonlyMap<string, number>;
  /** Given back as `queued`, and not to be published yet: how many of a region. Regions without any are
   *  not listed. */
  deferred: ReadonlyMap<string, number>;
}

/** States that failBatches can end. */
export type OutstandingState = 'waiting' | 'queued' | 'claimed';

/** Pages kept for jobs that are content with a recent crawl (decisions, "get_pc_bulk `rescrape=false`"). */
export interface CrawlStore {
  /** Keeps the page of `key` as crawled at `at`, unless a newer one is there. */
  putCrawl(key: string, at: number, body: Uint8Array): Promise<void>;
  /** The page of `key`, if it was crawled at `since` or later. */
  findCrawl(key: string, since: number): Promise<Uint8Array | null>;
}

/** Records that earlier versions kept in the database, until they are moved to the blob store. */
export interface LegacyRecordStore {
  /** Records of the batch's successful units that are still in the database, by index. */
  readLegacyRecords(batch: Batch): Promise<Map<number, Uint8Array>>;
  /** Up to `limit` ended batches with records in the database. */
  findLegacyBatches(limit: number): Promise<Batch[]>;
  /** Adds a part with the batch's records, once however often it is called, unless it is null; then removes
   *  them from the database. */
  migrateLegacyRecords(batchId: string, part: Part | null): Promise<void>;
}

/** What was seen of listed fields, over all workers together. */
export interface DriftStore {
  /** The record of a market's sort of page; null before the first. */
  getDrift(market: string, page: string): Promise<DriftRecord | null>;
  /** Keeps a record whose revision follows that of the one there (1: there is none); false when it
   *  does not: someone else was faster, and nothing is changed. */
  putDrift(record: DriftRecord): Promise<boolean>;
  /** Every record, by market and page. */
  listDrift(): Promise<DriftRecord[]>;
}
