import type { DescMessage, Message } from '@bufbuild/protobuf';
import type { JsonObject } from '../base/json.ts';
import type { ListPage, ListSummary, Market, PageName } from '../markets/market.ts';
import type {
  Batch,
  BatchSummary,
  Counts,
  Job,
  Lane,
  Outcome,
  StoredFile,
  Unit,
} from '../store/documents.ts';

/** Units of one region, in the order submitted. */
export interface PlannedGroup {
  region: string;
  units: Unit[];
}

/** What a request comes to: its units and what else the kind keeps of it. */
export interface Plan {
  groups: PlannedGroup[];
  /** Region of the whole job; '' where units have their own. */
  region: string;
  params: JsonObject;
}

/**
 * How a job's merged file and the files of its batches are written: `head`, the rows of the units with
 * `separator` between them, `tail`. The rows of a batch are written once and copied into the merged file.
 */
export interface FilePack {
  /** File name inside the job's folder. */
  name(job: Job, batch?: Batch): string;
  contentType(job: Job): string;
  /** The rows of each batch are one gzip member: `head`, `separator` and `tail` are empty then. */
  gzip: boolean;
  /** How a record stands in its row. */
  encoding(job: Job): 'plain' | 'csv';
  /** Written even when no unit succeeded, for files that tell of failures too. */
  whenAllFailed: boolean;
  head(job: Job): string;
  separator: string;
  /** The unit's row; null leaves it out. */
  row(unit: Unit, outcome: Outcome, place: UnitPlace): Row | null;
  tail(job: Job): string;
}

/** A unit's row: what stands before and after its record. A failed unit has no record. */
export type Row = readonly [before: string, after: string];

/** What a unit belongs to. */
export interface UnitPlace {
  job: Job;
  region: string;
}

/** How the result of one listing unit is written, streamed as its pages come. */
export interface UnitFilePack {
  /** File name inside the job's folder. It names the attempt: who lost the claim overwrites nothing. */
  name(job: Job, batch: Batch): string;
  contentType: string;
  /** The file's text; returns the number of entries written. */
  chunks(
    pages: AsyncGenerator<ListPage, ListSummary, void>,
    unit: Unit,
    place: UnitFilePlace,
  ): AsyncGenerator<string, number>;
}

/** What a unit's file may name. */
export interface UnitFilePlace {
  job: Job;
  batch: Batch;
  /** When the reading began: Unix time in seconds. */
  collectedAt: number;
  /** The file's object as the contract declares it; null where the kind's files need no declaration. */
  result: ResultShape | null;
}

/** The message that a unit's result file is, from the submit method's options. */
export interface ResultShape {
  message: DescMessage;
  /** The file is an array of the one object. */
  inArray: boolean;
}

/** The messages of an offer that determine the fields of its results. */
export interface ResultContract {
  /** Input of the submit method. */
  request: DescMessage;
  result: ResultShape | null;
}

/** What a view is told of a job. Parts it did not ask for are absent. */
export interface JobSnapshot {
  job: Job;
  counts?: Counts;
  batches?: readonly BatchSummary[];
  /** Every unit with its batch, in order. */
  units?: { unit: Unit; outcome: Outcome | undefined; batch: Batch; index: number }[];
  /** The first failed units of an ended job, with their places in the job from 0. */
  failures?: { unit: Unit; message: string; place: number }[];
  /** The one unit asked for. */
  unit?: { unit: Unit; outcome: Outcome | undefined; batch: Batch; payload: string | null };
  /** Makes a signed link to a file. `bearer`: the link also needs the owner's Bearer token. */
  link(file: StoredFile, options?: { bearer: boolean }): Promise<string>;
  /** Token of a unit for the data path. */
  itemToken(batch: Batch, index: number): string;
}

/** What a view needs beside the job. `unit`: the one whose key the request's field names; `only`: the
 *  job's only one; `failures`: needs `counts` before it. */
export type ViewNeed = 'counts' | 'batches' | 'units' | 'failures' | 'only' | { unit: string };

/** One way a job is shown: the plain object of the RPC's response message. */
export interface View {
  needs: readonly ViewNeed[];
  show(snapshot: JobSnapshot): Promise<JsonObject> | JsonObject;
}

/** One kind of work: how a job is planned, priced, packed and shown. Pure; it knows no market. */
export interface Kind {
  /** Name in the contract: "variant_sold". Its folder is written with dashes. */
  readonly name: string;
  /** The sort of page that its units are read from. */
  readonly page: PageName;
  readonly lane: Lane;
  /** Units per batch. */
  readonly batchSize: number;
  /** Waits for an operator's approval where approval is on. */
  readonly approval: boolean;
  /** Its work is dispatched during working hours only (endpoints marked W). */
  readonly workingHours: boolean;
  /** When credits are taken; `approval` means at submit where approval is off. */
  readonly charge: 'submit' | 'approval';
  /** What makes a job completed, partial_complete or failed at its end: its batches (interface,
   *  "Derived variant-sold aggregate") or its units. */
  readonly judgedBy: 'batches' | 'units';
  /** What a submit does when the queue does not answer: refund the batches, or refuse with 502. */
  readonly unqueued: 'refund' | 'refuse';
  /** Jobs are known to clients by an integer, drawn from this sequence. */
  readonly sequence?: string;
  /** Makes units of a validated request. Faults: `invalid` for what no option can say. */
  plan(request: Message, description: DescMessage, market: Market): Plan | Promise<Plan>;
  /**
   * For kinds that may serve a page crawled lately: the name that a unit's page is kept under, and
   * whether a job is content with a kept one.
   */
  readonly recent?: { key(unit: Unit, region: string): string; serves(job: Job): boolean };
  /** Credits per unit, unless the configuration or the market sets another price. */
  readonly price: number;
  /**
   * Returns the fields of one record of a result, in the notation of fieldsOf(): `page`, the listed fields of the
   * page that the record comes from, and those that the kind adds.
   */
  resultFields(page: string, contract: ResultContract): string;
  /** `batch` and `job` have the same rows. */
  readonly files: { batch?: FilePack; job?: FilePack; unit?: UnitFilePack };
  /** What the answer to a submit needs beside the job. */
  readonly submittedNeeds: readonly ViewNeed[];
  /** The answer to a submit. */
  submitted(snapshot: JobSnapshot): JsonObject | Promise<JsonObject>;
  readonly views: Readonly<Record<string, View>>;
  /** The answer to a list of the caller's jobs, newest first, for kinds that have one. */
  listed?(jobs: readonly Job[]): JsonObject;
}
