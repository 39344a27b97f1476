import type { FaultCode } from '../base/fault.ts';
import type { JsonObject } from '../base/json.ts';

/**
 * What the store keeps. Times are milliseconds since the epoch; `null` is "not yet" or "none".
 * Adapters store these shapes and give them back unchanged.
 */

/** Who may do what: a key of one role never works for the other's calls. */
export type Role = 'user' | 'operator';

/** A user or an operator. `balance` is always the sum of the account's ledger. */
export interface User {
  id: string;
  name: string;
  email: string;
  role: Role;
  balance: number;
  createdAt: number;
  /** Since when its keys are refused. */
  suspendedAt: number | null;
}

/** An API key, stored by its hash only. */
export interface ApiKey {
  id: string;
  userId: string;
  role: Role;
  name: string;
  /** SHA-256 of the key, hexadecimal. */
  hash: string;
  /** First characters of the key, to know it by. */
  prefix: string;
  createdAt: number;
  expiresAt: number | null;
  revokedAt: number | null;
  /** To within a minute. */
  lastUsedAt: number | null;
}

/** One entry of the ledger. The key makes it happen once: `charge:<job>`, `refund:<job>`, `grant:<id>`. */
export interface LedgerEntry {
  key: string;
  userId: string;
  /** Positive adds to the balance, negative takes from it. Never 0. */
  amount: number;
  type: 'grant' | 'charge' | 'refund';
  jobId: string | null;
  note: string;
  createdAt: number;
}

/**
 * Where a job stands, inside. `submitted`: written, not yet charged or answered. `discarding`: its
 * submit failed; the charge is refunded and the job removed. `approving`: an operator said yes, the charge is
 * under way. `approved`: paid, not dispatched yet. `settling`: no
 * unit is outstanding, refunds and file are being made. `rejecting`, `terminating`: on the way to
 * the state of that name. The last five are terminal.
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

/** A file in the blob store. */
export interface StoredFile {
  /** Path inside the blob store: `<job id>/full_<job id>.json`. */
  path: string;
  contentType: string;
  /** Records inside. */
  items: number;
  bytes: number;
  /** Hexadecimal. */
  sha256: string;
}

/** One submission. */
export interface Job {
  id: string;
  /** Integer id, for the kinds whose clients know the job by one; unique where not null. */
  number: number | null;
  userId: string;
  market: string;
  kind: string;
  /** Region of the whole job, or '' where units have their own. */
  region: string;
  lane: Lane;
  state: JobState;
  /** When `state` was last written: how the sweep knows what got stuck. */
  stateSince: number;
  /** What the kind keeps of the request beside its units. */
  params: JsonObject;
  unitPrice: number;
  cost: number;
  /** Credits given back so far. */
  refunded: number;
  totalUnits: number;
  totalBatches: number;
  createdAt: number;
  /** Whether the caller can repeat the submit and get this job. If so, an interrupted submit is resumed;
   *  if not, it is discarded. */
  resumable: boolean;
  /** End of the wait for approval. */
  decideBy: number | null;
  /** Id of the operator who decided. */
  decidedBy: string | null;
  reason: string;
  startedAt: number | null;
  finishedAt: number | null;
  /** The merged file, once written. */
  file: StoredFile | null;
  /** The job whose failed units this one tries again. */
  retryOf: string | null;
  /** Counts as they stood at its end, written with the terminal state; null before, and for jobs that
   *  ended before they were kept. */
  counts: Counts | null;
  /** Which message about the job is still to be made; written in one update with the state it tells of. */
  noticeDue: NoticeReason | null;
  /** From when on; null when none is. */
  noticeAt: number | null;
}

/** What people are told of: a state that a job has come to, or that its wait for approval nears its end. */
export type NoticeReason =
  | 'awaiting_approval'
  | 'approval_expiring'
  | 'completed'
  | 'partial_complete'
  | 'failed'
  | 'rejected'
  | 'terminated';

/** Single tasks do not queue behind bulk work. */
export type Lane = 'single' | 'bulk';

/** What the caller lists and pays for. */
export interface Unit {
  /** What the unit is found by inside its job: an item id, a URL. Not unique. */
  key: string;
  /** The unit as submitted: what the market's reader reads. */
  input: JsonObject;
}

/** What became of a unit. Absent while it is outstanding. */
export type Outcome =
  | {
      status: 'SUCCESS';
      /** Attempt under which its result was written. */
      attempt: number;
      /** The unit's own result file, for kinds that have one. */
      file?: StoredFile;
    }
  | { status: 'FAILED'; code: FaultCode; message: string };

/**
 * Where a batch stands. `waiting`: not published. `queued`: published. `claimed`: a worker has it.
 * `done`: no unit outstanding.
 */
export type BatchState = 'waiting' | 'queued' | 'claimed' | 'done';

/** Up to 50 units that go to a worker as one message. */
export interface Batch {
  id: string;
  jobId: string;
  /** Place in the job, from 0; units of batch n precede those of n + 1 in the order submitted. */
  seq: number;
  market: string;
  region: string;
  lane: Lane;
  units: Unit[];
  /** By the unit's index in `units`. */
  outcomes: Record<number, Outcome>;
  /** Derived from the outcomes in the same write: units with a result, units that failed. */
  success: number;
  failed: number;
  state: BatchState;
  /** Raised by every claim; writes name it, so a late worker's write matches nothing. */
  attempt: number;
  /** Claims in a row that recorded no outcome, this one included; those released in order do not count. */
  stalledClaims: number;
  /** The unit that was last started by itself, after claims without progress; null when none was. */
  solo: SoloUnit | null;
  queuedAt: number | null;
  /** End of the claim unless renewed. */
  leaseUntil: number | null;
  /** Not to be published again before. */
  notBefore: number | null;
  /** The batch's own result file, for kinds that have one. */
  file: StoredFile | null;
  /** Where the records of its successful units are. A batch that a worker finished has one part with all of them. */
  parts: Part[];
  /** When the last of its units ended; null before, and for batches done before it was kept. */
  endedAt: number | null;
}

/** A blob with records of a batch. Its name carries the attempt that wrote it, and only this reference makes it count. */
export interface Part {
  /** Path inside the blob store. */
  path: string;
  /** How a record's bytes stand in it: as they are, as they are in one gzip member, or as a field of a CSV file. */
  encoding: 'plain' | 'gzip' | 'csv';
  /** Offset and length of each record in bytes, before compression, by the unit's index. */
  records: Record<number, [offset: number, length: number]>;
  /** The batch's rows of the job's merged file; null for a part that holds records and nothing else. */
  body: PartBody | null;
}

/** The bytes from `start` to `end`, exclusive, of a part: rows of the merged file that are copied as they are. */
export interface PartBody {
  start: number;
  end: number;
  /** Number of rows. */
  items: number;
}

/** A unit that is read by itself, so that a worker's death can be attributed to it. */
export interface SoloUnit {
  index: number;
  /** How often reading it was started without an outcome. */
  starts: number;
}

/** A batch without what is large and what only workers need: how progress is shown. */
export type BatchSummary = Omit<Batch, 'units' | 'outcomes' | 'parts' | 'stalledClaims' | 'solo'> & {
  total: number;
};

/** Units and batches of a job by outcome. */
export interface Counts {
  /** `notRun`: failed units that never ran. Set at the end of a rejected or cancelled job only. */
  units: { total: number; success: number; failed: number; notRun?: number };
  /** `success`: done with at least one result; `failed`: done with none. */
  batches: { total: number; success: number; failed: number };
}

/** Points at a batch: what a queue message says. */
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

/** What was seen lately of listed fields on one sort of a market's pages. */
export interface DriftRecord {
  market: string;
  page: string;
  /** Raised by one with every write, from 1. */
  revision: number;
  /** JSON text of whoever watches the pages. */
  state: string;
}

/** The record of one submit under an idempotency key. */
export interface Submission {
  userId: string;
  idempotencyKey: string;
  /** SHA-256 of the request. */
  bodyHash: string;
  jobId: string;
  createdAt: number;
  /** True when the submit ended with an error and its job may exist: the next call resumes it at once. */
  interrupted: boolean;
  /** The first answer as JSON; null while the first submit is under way. */
  response: string | null;
}

/** Where messages about a user's jobs go: one of each user at most. */
export interface Webhook {
  userId: string;
  url: string;
  enabled: boolean;
  /** `whsec_` and base64. */
  secret: string;
  /** The secret before, which messages are signed with too until `previousUntil`. */
  previousSecret: string | null;
  previousUntil: number | null;
  updatedAt: number;
  /** Raised by one with every write, from 1. */
  revision: number;
}

/** A message to one address, and what became of it. */
export interface Delivery {
  id: string;
  /** Makes it happen once: `job.ended:<job>:webhook`. */
  key: string;
  /** Whose webhook it goes to; null: to operators. */
  userId: string | null;
  channel: 'webhook' | 'email';
  /** Type of the message: `job.ended`. */
  type: string;
  jobId: string | null;
  /** Address that it goes to, or went to when it was last tried. */
  target: string;
  /** The message as JSON text. */
  body: string;
  state: 'pending' | 'delivered' | 'failed';
  /** Tries that have ended. */
  attempts: number;
  /** How many of them came before it was last sent again by hand. */
  attemptsBefore: number;
  /** Raised whenever someone takes it; writes name it, so a late sender's write matches nothing. */
  take: number;
  createdAt: number;
  /** While someone has it: when it is anyone's again. Null once it has ended. */
  nextAttemptAt: number | null;
  endedAt: number | null;
  /** HTTP status of the last answer. */
  responseStatus: number | null;
  /** What went wrong at the last try; '' when nothing did. */
  error: string;
}
