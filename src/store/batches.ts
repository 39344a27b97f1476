import type { JsonObject } from '../base/json.ts';
import type { FaultCode } from '../contract/fault.ts';
import type { Collection } from './collection.ts';
import type { DeclarationOf } from './declaration.ts';
import type { Lane, QualityCounts, StoredFile } from './documents.ts';

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
      /** Counts of the entries in the file. Absent without a file. */
      quality?: QualityCounts;
      /** True if the site has more entries than the listing. Absent otherwise. */
      hasMore?: true;
      /** Time at which the page was read. For a reused result, the time of that reading. */
      readAt: number;
      /** Time at which the result was collected, if it was reused. */
      collectedAt?: number;
      /** Reader of the result and its version, if the pages are kept: "mkta/product 1.0.0". */
      reader?: string;
    }
  | { status: 'FAILED'; code: FaultCode; message: string };

/**
 * State of a batch. `waiting`: not published. `queued`: published. `claimed`: assigned to a worker.
 * `done`: every unit has an outcome.
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
  /**
   * Bytes of its segments and of its units' files in the result storage, updated in the same write.
   * Rows in the merged file count with the job.
   */
  storedBytes: number;
  state: BatchState;
  /**
   * Incremented by each claim. Writes name it, so that a superseded worker's write has no effect.
   */
  attempt: number;
  /**
   * Claims that ended in a crash or a failure, including the current one. Claims that were released
   * are not counted. A new outcome lowers the count to at most `maxStalledWithProgress`.
   */
  stalledClaims: number;
  /** The unit last read in isolation after claims without progress. Null if there was none. */
  isolated: IsolatedUnit | null;
  /** Time from which the batch is due. Publishing its message again does not change it. */
  queuedAt: number | null;
  /** Time at which its message was last published, or is to be. */
  publishedAt: number | null;
  /** Expiry of the claim unless it is renewed. */
  leaseUntil: number | null;
  /** Earliest time at which the batch may be published again. */
  notBefore: number | null;
  /** Its last wait. Null if it never waited, and after its end. */
  wait: BatchWait | null;
  /** The batch's own result file, for job types that have one. */
  file: StoredFile | null;
  /**
   * Blobs with the records of the successful units. A batch that a worker finished has one segment
   * with all of them.
   */
  segments: Segment[];
  /** Kept pages of the units. Null if there are none. */
  pages: KeptPages | null;
  /** End of the last unit. Null while a unit is outstanding. */
  endedAt: number | null;
}

/**
 * Wait of a batch that was requeued because its pages, or the stores, are temporarily unavailable.
 */
export interface BatchWait {
  /** Start of the wait. */
  since: number;
  /** Time of the next attempt. */
  until: number;
  /** Cause, such as "mkta/id: blocked (page_blocked)". */
  reason: string;
  /** Attempts so far of units that met a fault, by index. */
  tries: Record<number, number>;
  /**
   * Consecutive claims that ended without progress because the store or the result storage failed.
   */
  failures: number;
}

/**
 * A blob with records of a batch. Its name contains the attempt that wrote it; the blob is valid
 * only while a batch refers to it. Once the job has ended, this is the part of its merged file with
 * the batch's rows.
 */
export interface Segment {
  /** Path in the result storage. */
  path: string;
  /** Size of the blob in the result storage. */
  bytes: number;
  /** SHA-256 of the blob in hexadecimal. */
  sha256: string;
  /**
   * Encoding of a record: its bytes, its bytes within the gzip members of `body`, or a field of a
   * CSV file.
   */
  encoding: 'plain' | 'gzip' | 'csv';
  /**
   * Offset and length of each record, and its CRC-32, by the index of the unit: in the blob or, if
   * it is compressed, in the content of `body`.
   */
  records: Record<number, [offset: number, length: number, checksum: number]>;
  /** The batch's rows of the job's merged file. Null for a segment with records only. */
  body: PartBody | null;
  /** Counts of the records. Absent until the batch writer has added them to a written blob. */
  quality?: QualityCounts;
}

export interface KeptPage {
  /** Digest of the request. */
  request: string;
  /** Index of its file in `files`. */
  file: number;
  /** Byte range of its WARC records. */
  offset: number;
  length: number;
  url: string;
  /** Time of the response. */
  at: number;
  status: number;
  /** SHA-256 of the decoded body in hexadecimal. */
  sha256: string;
}

/**
 * Pages that a batch's units were read from, in WARC files in the result storage
 * (docs/kept-pages.md).
 */
export interface KeptPages {
  /**
   * Files with the pages. Each name contains the attempt that wrote the file. Files of other
   * batches of the job, which keep the same pages, have 0 bytes.
   */
  files: Pick<StoredFile, 'path' | 'bytes'>[];
  /** Size of the batch's own files. */
  bytes: number;
  /**
   * Pages by the index of the unit, in the order of their requests. A page of several units is kept
   * once.
   */
  units: Record<number, KeptPage[]>;
  /** Pages in the batch's own files. */
  kept: number;
  /** Pages that were not kept, because they exceeded a limit. */
  missed: number;
}

/** Place of a kept page that a batch has stored, by which other batches of the job find it. */
export interface KeptPageLocation {
  /** `<job>/<digest of the page>`. */
  id: string;
  /** Path of the file, and the byte range of the page's WARC records in it. */
  path: string;
  offset: number;
  length: number;
}

/** Byte range of a segment, `end` exclusive, whose rows are copied to the merged file unchanged. */
export interface PartBody {
  start: number;
  end: number;
  /** Number of rows. */
  items: number;
}

/** A unit that is read in isolation, so that a crash of the worker can be attributed to it. */
export interface IsolatedUnit {
  index: number;
  /**
   * Number of times the unit was started and neither an outcome nor a failure was recorded. A start
   * without a recorded end may have ended because the whole service was killed.
   */
  starts: number;
  /** Number of starts after which the claim was released as failed. Undefined is 0. */
  failures?: number;
}

/** A batch without its units, which a declaration cannot place: SQLite has a table for them. */
export type StoredBatch = Omit<Batch, 'units'> & {
  /** Number of units. */
  total: number;
};

/** A batch without its large and worker-only fields, for progress. */
export type BatchSummary = Omit<
  StoredBatch,
  'outcomes' | 'segments' | 'pages' | 'stalledClaims' | 'isolated' | 'wait'
>;

/** Declaration of the batches, whose tables and indexes are in the schema of each engine. */
export const batchDeclaration: DeclarationOf<StoredBatch> = {
  name: 'batches',
  fields: {
    id: 'string',
    jobId: 'string',
    market: 'string',
    region: 'string',
    lane: 'string',
    state: 'string',
    seq: 'integer',
    total: 'integer',
    success: 'integer',
    failed: 'integer',
    storedBytes: 'integer',
    attempt: 'integer',
    stalledClaims: 'integer',
    queuedAt: 'number?',
    publishedAt: 'number?',
    leaseUntil: 'number?',
    notBefore: 'number?',
    endedAt: 'number?',
    file: 'object?',
    wait: 'object?',
    isolated: 'object?',
    pages: 'object?',
    segments: 'object',
    outcomes: 'object',
  },
  id: ['id'],
  order: ['jobId', 'seq'],
  lazyFields: ['wait', 'stalledClaims', 'isolated', 'pages', 'segments', 'outcomes'],
  literalField: 'state',
  durability: 'relaxed',
  cached: true,
};

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
  /** Store of its unit, in a market whose callers name stores. Absent if it has several units. */
  store?: string | undefined;
}

/** A batch whose message is to be published. */
export interface QueuedBatch extends BatchReference {
  /** Key of its unit. Null if it has several. */
  unitKey: string | null;
}

/** Identifies a batch. A cluster distributes batches by their job, so that its writes name both. */
export type BatchKey = Pick<Batch, 'id' | 'jobId'>;

/** Returns the key of a batch that a message refers to. */
export const batchKey = ({
  batchId,
  jobId,
}: Pick<BatchReference, 'batchId' | 'jobId'>): BatchKey => ({
  id: batchId,
  jobId,
});

/** Batches as a declared collection. */
export type BatchCollection = Collection<BatchSummary, StoredBatch>;
