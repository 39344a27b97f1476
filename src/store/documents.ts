import type { JsonObject } from '../base/json.ts';
import type { KeyScope, OperatorRole } from '../contract/permission.ts';
import type { JobOptions } from '../contract/submit-options.ts';

/*
 * Documents of the store. Times are milliseconds since the epoch; `null` means "not yet" or "none".
 * Adapters return documents as they were stored.
 */

/** Role of a user or key. Calls of one role reject keys of the other. */
export type Role = 'user' | 'operator';

/** Mode of an account and its jobs: live marketplaces, or the sandbox's fake ones. */
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
  /**
   * Start of the deletion. The name and the email address are removed then, and the user is
   * suspended for good.
   */
  deletedAt: number | null;
  /**
   * True once everything else that was stored of a deleted user is removed, except for the ledger.
   */
  erased: boolean;
  /** Id of the user whose test account this is (docs/sandbox.md). Null for every other account. */
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
  /** First characters of a generated key, for display. Empty for a configured key. */
  prefix: string;
  createdAt: number;
  expiresAt: number | null;
  revokedAt: number | null;
  /** Accurate to a minute. */
  lastUsedAt: number | null;
  /** Scopes of a user's key. Null: every scope, and for an operator's key. */
  scopes: readonly KeyScope[] | null;
  /** Role of an operator's key. Null for a user's key. */
  operatorRole: OperatorRole | null;
  /** Maximum of `creditsSpent`. Null: no limit, and nothing is counted. Never changes. */
  creditCeiling: number | null;
  /** Credits of the ledger entries that name this key: charges minus refunds. */
  creditsSpent: number;
}

/**
 * A ledger entry. The key makes posting idempotent: `charge:<job>`, `refund:<job>`, `grant:<id>`.
 */
export interface LedgerEntry {
  key: string;
  userId: string;
  /** Credits: positive amounts are added to the balance, negative ones subtracted. Never 0. */
  amount: number;
  type: 'grant' | 'charge' | 'refund';
  jobId: string | null;
  /** Key whose credit ceiling the entry counts against. Null if there is none. */
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
  | EndedState;

/** State of a job that has ended. */
export type EndedState = 'completed' | 'partial_complete' | 'failed' | 'rejected' | 'terminated';

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
  /** Key that submitted the job, which its charge counts against. Null for an operator's retry. */
  keyId: string | null;
  /** `test` for the jobs of a test account, which read the sandbox and cost nothing. */
  mode: Mode;
  market: string;
  kind: string;
  /** Region of all units, or '' if units have their own. */
  region: string;
  lane: Lane;
  state: JobState;
  /** Time of the last transition. */
  stateSince: number;
  /**
   * Time at which the sweep has to continue the job (job-states.ts). Null if it waits for nothing.
   */
  dueAt: number | null;
  /** Parameters of the request other than the units. */
  params: JsonObject;
  /** Options of the submission. Empty if there are none. */
  options: JobOptions;
  unitPrice: number;
  /**
   * Price of a unit whose result is reused. Null for jobs that read every page. The end refunds the
   * difference.
   */
  reusedUnitPrice: number | null;
  cost: number;
  /** Credits refunded so far. */
  refunded: number;
  totalUnits: number;
  totalBatches: number;
  createdAt: number;
  /**
   * True if the caller can repeat the submission and get this job. An interrupted submission is
   * then resumed; otherwise it is discarded.
   */
  resumable: boolean;
  /** Deadline for the approval. */
  decideBy: number | null;
  /** Id of the operator who approved or rejected the job. */
  decidedBy: string | null;
  reason: string;
  startedAt: number | null;
  finishedAt: number | null;
  /** The merged file, once it is written. It is shown once the job has ended. */
  file: StoredFile | null;
  /** Id of the job whose failed units this job retries. */
  retryOf: string | null;
  /** Id of the job whose kept pages this job reads again. */
  rereadOf: string | null;
  /**
   * Schedule whose run the job is, in the version that the job was submitted for. Null for other
   * jobs.
   */
  schedule: { id: string; version: number } | null;
  /** Counts at the end of the job, written with the terminal state. Null before the end. */
  counts: Counts | null;
  /** Hold of the deliveries. Null if they are not held. Written with the terminal state. */
  hold: JobHold | null;
  /**
   * Reason of the next notice about the job, written in the same update as the state it reports.
   */
  noticeDue: NoticeReason | null;
  /** Due time of the next notice, or null if there is none. */
  noticeAt: number | null;
  /** Time since which the result files count as deleted. They are never read afterwards. */
  filesDeletedAt: number | null;
  /** True while deleted files may still be in the result storage. */
  fileDeletionDue: boolean;
  /**
   * Time from which the kept pages are never read: later by `keep_pages` than the end of the job,
   * or than its creation until then. Null if there are none, and once they were removed.
   */
  pagesUntil: number | null;
}

/** Counts of the listed fields in some records. */
export interface QualityCounts {
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
  /** Time of the owner's decision. Null until then. */
  decidedAt: number | null;
}

/**
 * Repeated removal of the files of a deleted job, of which a late write may arrive. By the steady
 * time.
 */
export interface FileRemoval {
  jobId: string;
  deletedAt: number;
  /** Time of the next removal. */
  dueAt: number;
}

/** Summary of a deleted job, kept so that the ledger can be audited. */
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

/**
 * Reason of a notice: a state that the job reached, an approval deadline that is near, or the
 * release of a hold.
 */
export type NoticeReason = 'awaiting_approval' | 'approval_expiring' | EndedState | 'released';

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
  /**
   * True if the submission ended with an error and its job may exist. The next call resumes it
   * immediately.
   */
  interrupted: boolean;
  /** The first response as JSON. Null while the first submission is in progress. */
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
  /** Owner of the webhook or destination. Null for a message to operators. */
  userId: string | null;
  /** `file`: the results of a job, to a destination of the user. */
  channel: 'webhook' | 'email' | 'file';
  /** Type of the message: `job.ended`. */
  type: string;
  jobId: string | null;
  /** Address of the last attempt, or of the next one before the first. */
  target: string;
  /** The message, or the description of the file, as JSON text. */
  body: string;
  /** Destination of a file. Null for messages. */
  destinationId: string | null;
  state: 'pending' | 'delivered' | 'failed';
  /** Number of attempts that ended. */
  attempts: number;
  /** Number of attempts before the last manual redelivery. */
  attemptsBefore: number;
  /**
   * Incremented by each claim. Writes name it, so that a superseded sender's write has no effect.
   */
  revision: number;
  createdAt: number;
  /** Due time, or the expiry of the claim while a sender has one. Null once the delivery ended. */
  nextAttemptAt: number | null;
  endedAt: number | null;
  /** HTTP status of the last response. */
  responseStatus: number | null;
  /** Error of the last attempt, '' if there was none. */
  error: string;
}

/** Queue of a job. Single tasks do not wait behind bulk jobs. */
export type Lane = 'single' | 'bulk';

/** Units and batches of a job by outcome. */
export interface Counts {
  /**
   * `notRun`: failed units that never ran, set at the end of a rejected or cancelled job only.
   * `reused`: units whose results were reused, set at the end of a job with `max_age` only.
   */
  units: { total: number; success: number; failed: number; notRun?: number; reused?: number };
  /** `success`: done with at least one result. `failed`: done without results. */
  batches: { total: number; success: number; failed: number };
  /** Kept pages, set at the end of a job with `keep_pages` only. */
  pages?: { kept: number; missed: number; bytes: number };
}
