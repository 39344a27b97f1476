import type { JsonObject } from '../base/json.ts';
import type { FaultCode } from '../contract/fault.ts';
import type { KeyScope, OperatorRole } from '../contract/permission.ts';
import type { JobOptions } from '../contract/submit-options.ts';

/*
 * Documents of the store. Times are milliseconds since the epoch; `null` means "not yet" or "none". Adapters return
 * documents as they were stored.
 */

/** Role of a user or key. Calls of one role reject keys of the other. */
export type Role = 'user' | 'operator';

/** What an account and its jobs work on: the marketplaces, or the sandbox's fake ones. */
export type Mode = 'live' | 'test';

/** A user or an operator. `balance` always equals the sum of the user's ledger. */
export interface User {
  id: string;
  name: string;
  email: string;
  role: Role;
  balance: number;
  createdAt: number;
  /** Start of the suspension, during which the user's keys are rejected. */
  suspendedAt: number | null;
  /** Start of the deletion. The name and the email address are removed then, and the user is suspended for good. */
  deletedAt: number | null;
  /** True once everything else that was stored of a deleted user is removed, except for the ledger. */
  erased: boolean;
  /** Id of the user whose test account this is (docs/sandbox.md); null for every other account. */
  testOf: string | null;
}

/** An API key. Only its hash is stored. */
export interface ApiKey {
  id: string;
  userId: string;
  role: Role;
  name: string;
  /** SHA-256 of the key in hexadecimal. */
  hash: string;
  /** First characters of the key, for display. */
  prefix: string;
  createdAt: number;
  expiresAt: number | null;
  revokedAt: number | null;
  /** Accurate to a minute. */
  lastUsedAt: number | null;
  /** Scopes of a user's key; null: every scope, as for keys of versions without scopes. */
  scopes: readonly KeyScope[] | null;
  /** Role of an operator's key; null: admin, as for keys of versions without roles. */
  operatorRole: OperatorRole | null;
  /** Maximum of `creditsSpent`; null: no limit, and nothing is counted. Never changes. */
  creditCeiling: number | null;
  /** Credits of the ledger entries that name this key: charges minus refunds. */
  creditsSpent: number;
}

/** A ledger entry. The key makes posting idempotent: `charge:<job>`, `refund:<job>`, `grant:<id>`. */
export interface LedgerEntry {
  key: string;
  userId: string;
  /** Credits: positive amounts are added to the balance, negative ones subtracted. Never 0. */
  amount: number;
  type: 'grant' | 'charge' | 'refund';
  jobId: string | null;
  /** Key whose credit ceiling the entry counts against; null without one. */
  keyId: string | null;
  note: string;
  createdAt: number;
}

/**
 * Internal state of a job. The last five are terminal.
 * - `submitted`: written, but not charged or acknowledged yet.
 * - `discarding`: the submission failed; the charge is refunded and the job deleted.
 * - `approving`: an operator approved the job; the charge is in progress.
 * - `approved`: paid, not dispatched yet.
 * - `settling`: no unit is outstanding; refunds and the merged file are in progress.
 * - `rejecting`, `terminating`: in transition to `rejected` or `terminated`.
 */
export type JobState =
  | 'submitted'
  | 'discarding'
  | 'awaiting_approval'
  | 'approving'
  | 'approved'
  | 'processing'
  | 'settling'
  | 'rejecting'
  | 'terminating'
  | 'completed'
  | 'partial_complete'
  | 'failed'
  | 'rejected'
  | 'terminated';

/** A file in the result storage. */
export interface StoredFile {
  /** Path in the result storage: `<job id>/full_<job id>.json`. */
  path: string;
  contentType: string;
  /** Number of records. */
  items: number;
  bytes: number;
  /** SHA-256 of the contents in hexadecimal. */
  sha256: string;
}

/** A job: the units of one submission. */
export interface Job {
  id: string;
  /** Integer id for job types whose clients identify jobs by number. Unique where not null. */
  number: number | null;
  userId: string;
  /** Key that submitted the job, which its charge counts against; null for an operator's retry. */
  keyId: string | null;
  /** `test` for the jobs of a test account, which read the sandbox and cost nothing. */
  mode: Mode;
  market: string;
  kind: string;
  /** Region of all units, or '' if units have their own. */
  region: string;
  lane: Lane;
  state: JobState;
  /** Time of the last transition. The sweep uses it to find interrupted steps. */
  stateSince: number;
  /** Parameters of the request other than the units. */
  params: JsonObject;
  /** Options of the submit; empty without any, and for jobs of versions without options. */
  options: JobOptions;
  unitPrice: number;
  /** Price of a unit whose result is reused; null for jobs that read every page. The end refunds the difference. */
  reusedUnitPrice: number | null;
  cost: number;
  /** Credits refunded so far. */
  refunded: number;
  totalUnits: number;
  totalBatches: number;
  createdAt: number;
  /**
   * True if the caller can repeat the submission and get this job. An interrupted submission is then resumed;
   * otherwise it is discarded.
   */
  resumable: boolean;
  /** Deadline for the approval. */
  decideBy: number | null;
  /** Id of the operator who approved or rejected the job. */
  decidedBy: string | null;
  reason: string;
  startedAt: number | null;
  finishedAt: number | null;
  /** The merged file, once it is written. */
  file: StoredFile | null;
  /** Id of the job whose failed units this job retries. */
  retryOf: string | null;
  /**
   * Counts at the end of the job, written with the terminal state. Null before the end, and for jobs of versions
   * that did not store them.
   */
  counts: Counts | null;
  /** Hold of the deliveries; null if they are not held. Written with the terminal state. */
  hold: JobHold | null;
  /** Reason of the next notice about the job, written in the same update as the state it reports. */
  noticeDue: NoticeReason | null;
  /** Due time of the next notice, null without one. */
  noticeAt: number | null;
  /** Time since which the result files count as deleted. They are never read afterwards. */
  filesDeletedAt: number | null;
  /** True while deleted files may still be in the result storage. */
  fileDeletionDue: boolean;
}

/** Counts of the listed fields in some records. */
export interface QualityTally {
  /** Digest of the listed fields, whose order the counts have. */
  shape: string;
  records: number;
  /** Records that violate the listed fields. */
  invalid: number;
  /** Records that have a place for each field. */
  applicable: number[];
  /** Records in which each field has a value. */
  filled: number[];
}

/** A rule that a held job does not meet. */
export interface HoldReason {
  field: string;
  /** Minimum fill of the field in percent. */
  minimum: number;
  /** Fill of the field in the job's records in percent. */
  percent: number;
}

/** Hold of the deliveries of an ended job, until its owner releases or discards them. */
export interface JobHold {
  state: 'held' | 'released' | 'discarded';
  reasons: HoldReason[];
  heldAt: number;
  /** Time of the owner's decision; null before. */
  decidedAt: number | null;
}

/** What remains of a deleted job, so that the ledger can be audited. */
export interface DeletedJob
  extends Pick<
    Job,
    | 'id'
    | 'userId'
    | 'market'
    | 'kind'
    | 'state'
    | 'unitPrice'
    | 'cost'
    | 'refunded'
    | 'totalUnits'
    | 'createdAt'
    | 'finishedAt'
  > {
  /** Credits refunded for reused results. */
  discount: number;
  /** Successful and failed units. */
  success: number;
  failed: number;
  deletedAt: number;
}

/** Reason of a notice: a state that the job reached, an approval deadline that is near, or the release of a hold. */
export type NoticeReason =
  | 'awaiting_approval'
  | 'approval_expiring'
  | 'completed'
  | 'partial_complete'
  | 'failed'
  | 'rejected'
  | 'terminated'
  | 'released';

/** Queue of a job. Single tasks do not wait behind bulk jobs. */
export type Lane = 'single' | 'bulk';

/** One requested item of a job, the unit of billing. */
export interface Unit {
  /** Identifies the unit in its job: an item id or a URL. Not unique. */
  key: string;
  /** The unit as submitted, in the format of the market's reader. */
  input: JsonObject;
}

/** Outcome of a unit. Absent while the unit is outstanding. */
export type Outcome =
  | {
      status: 'SUCCESS';
      /** Attempt that wrote the result. */
      attempt: number;
      /** The unit's own result file, for job types that have one. */
      file?: StoredFile;
      /** Counts of the entries in the file. Absent without a file, and in outcomes of versions without counts. */
      quality?: QualityTally;
      /** Time at which the result was collected, if it was reused. */
      collectedAt?: number;
    }
  | { status: 'FAILED'; code: FaultCode; message: string };

/**
 * State of a batch. `waiting`: not published. `queued`: published. `claimed`: assigned to a worker. `done`: no
 * unit is outstanding.
 */
export type BatchState = 'waiting' | 'queued' | 'claimed' | 'done';

/** Up to 50 units that are sent to a worker in one message. */
export interface Batch {
  id: string;
  jobId: string;
  /** Position in the job, from 0. Batches follow the order of submission. */
  seq: number;
  market: string;
  region: string;
  lane: Lane;
  units: Unit[];
  /** Outcomes by the index of the unit in `units`. */
  outcomes: Record<number, Outcome>;
  /** Successful and failed units, updated in the same write as the outcomes. */
  success: number;
  failed: number;
  /** Bytes of its parts and of its units' files in the result storage, updated in the same write. */
  storedBytes: number;
  state: BatchState;
  /** Incremented by each claim. Writes name it, so that a superseded worker's write has no effect. */
  attempt: number;
  /**
   * Claims that ended in a crash or a failure, including the current one. Claims that were released are not counted. A new
   * outcome lowers the count to at most `maxStalledWithProgress`.
   */
  stalledClaims: number;
  /** The unit last read in isolation after claims without progress; null if there was none. */
  solo: SoloUnit | null;
  /** Time from which the batch is due. Publishing its message again does not change it. */
  queuedAt: number | null;
  /** Time at which its message was last published, or is to be. */
  publishedAt: number | null;
  /** Expiry of the claim unless it is renewed. */
  leaseUntil: number | null;
  /** Earliest time at which the batch may be published again. */
  notBefore: number | null;
  /** Its last wait; null if it never waited, and after its end. */
  wait: BatchWait | null;
  /** The batch's own result file, for job types that have one. */
  file: StoredFile | null;
  /**
   * Blobs with the records of the successful units. A batch that a worker finished has one part with all of them.
   */
  parts: Part[];
  /** End of the last unit. Null before, and for batches of versions that did not store it. */
  endedAt: number | null;
}

/** Wait of a batch that was requeued because its pages, or the stores, are temporarily unavailable. */
export interface BatchWait {
  /** Start of the wait. */
  since: number;
  /** Time of the next attempt. */
  until: number;
  /** Cause, such as "mkta/id: blocked (page_blocked)". */
  reason: string;
  /** Attempts so far of units that met a fault, by index. */
  tries: Record<number, number>;
  /** Consecutive claims that ended without progress because the store or the result storage failed. */
  failures: number;
}

/**
 * A blob with records of a batch. Its name contains the attempt that wrote it; the blob is valid only while a
 * batch refers to it.
 */
export interface Part {
  /** Path in the result storage. */
  path: string;
  /** Size in the result storage. */
  bytes: number;
  /** Encoding of a record: its bytes, its bytes within one gzip member of the part, or a field of a CSV file. */
  encoding: 'plain' | 'gzip' | 'csv';
  /** Offset and length of each record in bytes before compression, by the index of the unit. */
  records: Record<number, [offset: number, length: number]>;
  /** The batch's rows of the job's merged file; null for a part with records only. */
  body: PartBody | null;
  /** Counts of the records. Absent in parts of versions without counts. */
  quality?: QualityTally;
}

/** Byte range of a part, `end` exclusive, whose rows are copied to the merged file unchanged. */
export interface PartBody {
  start: number;
  end: number;
  /** Number of rows. */
  items: number;
}

/** A unit that is read in isolation, so that a crash of the worker can be attributed to it. */
export interface SoloUnit {
  index: number;
  /** Number of times the unit was started without reaching an outcome. */
  starts: number;
}

/** A batch without its large and worker-only fields, for progress. */
export type BatchSummary = Omit<Batch, 'units' | 'outcomes' | 'parts' | 'stalledClaims' | 'solo' | 'wait'> & {
  total: number;
};

/** Units and batches of a job by outcome. */
export interface Counts {
  /**
   * `notRun`: failed units that never ran, set at the end of a rejected or cancelled job only. `reused`: units whose
   * results were reused, set at the end of a job with `max_age` only.
   */
  units: { total: number; success: number; failed: number; notRun?: number; reused?: number };
  /** `success`: done with at least one result. `failed`: done without one. */
  batches: { total: number; success: number; failed: number };
}

/** Contents of a queue message: a reference to a batch. */
export interface BatchReference {
  jobId: string;
  batchId: string;
  market: string;
  region: string;
  lane: Lane;
  /** Number of the batch's units. */
  units: number;
  attempt: number;
}

/** Recent statistics of the listed fields of one kind of a market's pages. */
export interface DriftRecord {
  market: string;
  page: string;
  /** Incremented by each write, from 1. */
  revision: number;
  /** Statistics as JSON text. */
  state: string;
}

/** Record of a submission with an idempotency key. */
export interface Submission {
  userId: string;
  idempotencyKey: string;
  /** SHA-256 of the request. */
  bodyHash: string;
  jobId: string;
  createdAt: number;
  /** True if the submission ended with an error and its job may exist. The next call resumes it at once. */
  interrupted: boolean;
  /** The first response as JSON; null while the first submission is in progress. */
  response: string | null;
}

/** Webhook of a user. Each user has at most one. */
export interface Webhook {
  userId: string;
  url: string;
  enabled: boolean;
  /** `whsec_` followed by the key in base64. */
  secret: string;
  /** Previous secret, with which messages are signed as well until `previousUntil`. */
  previousSecret: string | null;
  previousUntil: number | null;
  updatedAt: number;
  /** Incremented by each write, from 1. */
  revision: number;
}

/** A message or a file to one address and the state of its delivery. */
export interface Delivery {
  id: string;
  /** Makes the creation idempotent: `job.ended:<job>:webhook`. */
  key: string;
  /** Owner of the webhook or destination; null for a message to operators. */
  userId: string | null;
  /** `file`: the results of a job, to a destination of the user. */
  channel: 'webhook' | 'email' | 'file';
  /** Type of the message: `job.ended`. */
  type: string;
  jobId: string | null;
  /** Address: that of the last attempt, or that of the next before the first. */
  target: string;
  /** The message, or the description of the file, as JSON text. */
  body: string;
  /** Destination of a file; null for messages. */
  destinationId: string | null;
  state: 'pending' | 'delivered' | 'failed';
  /** Number of attempts that ended. */
  attempts: number;
  /** Number of attempts before the last manual redelivery. */
  attemptsBefore: number;
  /** Incremented by each claim. Writes name it, so that a superseded sender's write has no effect. */
  take: number;
  createdAt: number;
  /** Due time, or the expiry of the claim while a sender has one. Null once the delivery ended. */
  nextAttemptAt: number | null;
  endedAt: number | null;
  /** HTTP status of the last response. */
  responseStatus: number | null;
  /** Error of the last attempt, '' if there was none. */
  error: string;
}
