import type { DescMessage, Message } from '@bufbuild/protobuf';
import type { JsonObject } from '../base/json.ts';
import type { ListPage, ListSummary, Market, PageName } from '../markets/market.ts';
import type { RecordFields } from '../quality/record-schema.ts';
import type { Batch, BatchSummary, Outcome, Unit } from '../store/batches.ts';
import type { Counts, Job, Lane, StoredFile } from '../store/documents.ts';

/** Units of one region, in the order submitted. */
export interface PlannedGroup {
  region: string;
  units: Unit[];
}

/** Units of a request, and the parameters that are stored with the job. */
export interface Plan {
  groups: PlannedGroup[];
  /** Region of the whole job. Empty if units have their own. */
  region: string;
  params: JsonObject;
}

/**
 * Format of a job's merged file and its batches' files: `head`, the units' rows joined with
 * `separator`, `tail`. The rows of a batch are written once and copied into the merged file.
 */
export interface FilePack {
  /** Returns the file name inside the job's folder. */
  name(job: Job, batch?: Batch): string;
  contentType(job: Job): string;
  /**
   * True if the rows of each batch are compressed as one gzip member. `head`, `separator` and
   * `tail` are then empty.
   */
  gzip: boolean;
  /** Encoding of a record in its row. */
  encoding(job: Job): 'plain' | 'csv';
  /** True if the file is written even if every unit failed. */
  whenAllFailed: boolean;
  head(job: Job): string;
  separator: string;
  /** Returns the unit's row, or null if there is none. */
  row(unit: Unit, outcome: Outcome, context: UnitPlace): Row | null;
  tail(job: Job): string;
}

/** Text before and after the record in a unit's row. The row of a failed unit has no record. */
export type Row = readonly [before: string, after: string];

/** Job and region of a unit. */
export interface UnitPlace {
  job: Job;
  region: string;
}

/**
 * Format of the result file of one listing unit. It is streamed while the pages are read. The first
 * line contains everything that depends on the job, so that another job's file of the same listing
 * differs in that line only.
 */
export interface UnitFilePack {
  /**
   * Returns the file name inside the job's folder. It contains the attempt, so that a superseded
   * worker overwrites nothing.
   */
  name(job: Job, batch: Batch): string;
  contentType: string;
  /** Returns the first line, without a line break. */
  head(unit: Unit, file: UnitFilePlace): string;
  /**
   * Yields the text after the first line, which begins with a line break, and returns the number of
   * entries.
   */
  body(
    pages: AsyncGenerator<ListPage, ListSummary, void>,
    unit: Unit,
    file: UnitFilePlace,
  ): AsyncGenerator<string, number>;
  /** Yields the entries of a file, given its lines. */
  entries(lines: AsyncIterable<string>): AsyncGenerator<FileEntry>;
}

/** Entry of a unit's file. */
export interface FileEntry {
  /** Name of its list in the file: "products". */
  list: string;
  /** The entry as JSON text. */
  text: string;
}

/** Values that a unit's file can contain. */
export interface UnitFilePlace {
  job: Job;
  batch: Batch;
  /** Start of the reading: Unix time in seconds. */
  collectedAt: number;
  /**
   * The file's object as the contract declares it. Null for kinds whose files need no declaration.
   */
  result: ResultShape | null;
}

/** Message of a unit's result file, from the options of the submit method. */
export interface ResultShape {
  message: DescMessage;
  /** True if the file is an array with that one object. */
  inArray: boolean;
}

/** The messages of a job type that determine the fields of its results. */
export interface ResultContract {
  /** Input message of the submit method. */
  request: DescMessage;
  result: ResultShape | null;
}

/** State of a job that views show. Parts that the view does not need are absent. */
export interface JobSnapshot {
  job: Job;
  counts?: Counts;
  batches?: readonly BatchSummary[];
  /** Every unit with its batch, in the order submitted. */
  units?: { unit: Unit; outcome: Outcome | undefined; batch: Batch; index: number }[];
  /** First failed units of an ended job, with their places in the job from 0. */
  failures?: { unit: Unit; message: string; place: number }[];
  /** The requested unit. */
  unit?: { unit: Unit; outcome: Outcome | undefined; batch: Batch; payload: string | null };
  /**
   * Creates a signed link to a file. With `bearer`, the link also requires the owner's Bearer
   * token.
   */
  link(file: StoredFile, options?: { bearer: boolean }): Promise<string>;
  /** Returns the token of a unit in the data path. */
  itemToken(batch: Batch, index: number): string;
}

/**
 * Segment of a job that a view needs. `unit`: the unit whose key is in the named field of the
 * request; `only`: the single unit; `failures`: requires `counts` before it.
 */
export type ViewNeed = 'counts' | 'batches' | 'units' | 'failures' | 'only' | { unit: string };

/** One view of a job: returns the fields of the RPC's response message. */
export interface View {
  needs: readonly ViewNeed[];
  show(snapshot: JobSnapshot): Promise<JsonObject> | JsonObject;
}

/**
 * One kind of job: how it is planned, priced, packed and shown. Kinds are pure and independent of
 * markets.
 */
export interface Kind {
  /** Name in the contract: "variant_sold". Its folder is written with dashes. */
  readonly name: string;
  /** Page that its units are read from. */
  readonly page: PageName;
  readonly lane: Lane;
  /** Maximum units per batch. */
  readonly batchSize: number;
  /** Maximum units per job, for kinds whose request does not declare it. */
  readonly maxUnits?: number;
  /** True if its jobs wait for an operator's approval, if approvals are enabled. */
  readonly approval: boolean;
  /** True if its batches are dispatched during working hours only (endpoints marked W). */
  readonly workingHours: boolean;
  /** When credits are charged. `approval` means at submit if approvals are disabled. */
  readonly charge: 'submit' | 'approval';
  /** True if a job's final status follows from its batches or from its units. */
  readonly statusFrom: 'batches' | 'units';
  /**
   * Reaction of a submission to an unavailable queue: refund the batches, or refuse the submission
   * with 502.
   */
  readonly unqueued: 'refund' | 'refuse';
  /**
   * Sequence of the integers that identify its jobs to clients. Absent: jobs are identified by a
   * UUID.
   */
  readonly sequence?: string;
  /**
   * Plans the units of a validated request. Throws `invalid` for rules that the contract's options
   * cannot express.
   */
  plan(request: Message, description: DescMessage, market: Market): Plan | Promise<Plan>;
  /**
   * Cache of recent pages, for kinds that can serve them: `key` returns a page's cache key,
   * `serves` whether a job accepts a cached page.
   */
  readonly recent?: { key(unit: Unit, region: string): string; serves(job: Job): boolean };
  /** Credits per unit, unless the configuration or the market sets another price. */
  readonly price: number;
  /**
   * Returns the fields of one record of a result: `page`, the listed fields of the page that the
   * record comes from, and the fields that the kind adds.
   */
  resultFields(page: RecordFields, contract: ResultContract): RecordFields;
  /** `batch` and `job` have the same rows. */
  readonly files: { batch?: FilePack; job?: FilePack; unit?: UnitFilePack };
  /** Parts of the job that the response to a submission needs. */
  readonly submittedNeeds: readonly ViewNeed[];
  /** Returns the response to a submission. */
  submitted(snapshot: JobSnapshot): JsonObject | Promise<JsonObject>;
  readonly views: Readonly<Record<string, View>>;
  /**
   * Returns the response to a list of the caller's jobs, newest first. Absent: the kind has no such
   * list.
   */
  listed?(jobs: readonly Job[]): JsonObject;
}
