import {
  type Batch,
  type BatchCollection,
  type BatchKey,
  type BatchReference,
  type BatchWait,
  batchKey,
  type KeptPages,
  type Outcome,
  type QueuedBatch,
  type Segment,
} from './batches.ts';
import type { Counts, Lane, StoredFile } from './documents.ts';

/**
 * Batches and the outcomes of their units. They are written and removed with their jobs only. A
 * write that names an attempt changes nothing if the batch has another.
 */
export interface BatchStore
  extends Pick<BatchCollection, 'pick' | 'find' | 'count' | 'countBy' | 'update' | 'writeAll'> {
  /**
   * Moves up to `limit` waiting batches of a job, or of one of its regions, to `queued`, lowest
   * `seq` first. Skips batches whose `notBefore` is after `now`.
   */
  queue(jobId: string, limit: number, now: number, region?: string): Promise<QueuedBatch[]>;
  /**
   * Counts the batches of several jobs that are queued or claimed, and separately the queued ones
   * that are deferred beyond `now`, by job id. Jobs without any are left out.
   */
  countInFlight(jobIds: readonly string[], now: number): Promise<Map<string, InFlight>>;
  /**
   * Claims a batch: increments its attempt and its count of claims without progress. Returns null
   * unless the batch is outstanding and either has the attempt `attempt` and is not claimed, or has
   * a claim that expired before `now`.
   */
  claim(
    batch: BatchKey,
    attempt: number,
    now: number,
    leaseUntil: number,
  ): Promise<ClaimedBatch | null>;
  /**
   * Writes outcomes of units and the segment with their records, and ends the batch if the write
   * has an end. Returns false if the claim was lost, and true without a change if this attempt has
   * ended the batch before. A unit keeps its first outcome, so a repeated write counts nothing
   * twice. A new outcome lowers the count of claims without progress to at most
   * `maxStalledWithProgress`.
   */
  recordOutcomes(batch: BatchKey, attempt: number, write: OutcomeWrite): Promise<boolean>;
  /**
   * Ends each outstanding unit of the job's batches in one of `states` with `outcome`, at `now`.
   * Returns the number of units. A worker's later write to such a batch has no effect.
   */
  fail(
    jobId: string,
    states: readonly OutstandingState[],
    outcome: Outcome,
    now: number,
  ): Promise<number>;
  /** Computes the counts of several jobs by job id. Jobs without batches are left out. */
  countJobs(jobIds: readonly string[]): Promise<Map<string, Counts>>;
  /**
   * Yields complete batches of a job by `seq`, and holds only a few in memory: all, those in `seqs`
   * (ascending), or, one at a time, those that contain a unit with `key`.
   */
  read(jobId: string, among?: { seqs: readonly number[] } | { key: string }): AsyncIterable<Batch>;
  /**
   * Returns up to `limit` batches that are to be published again, each to one caller only. First
   * those whose claims expired before `now`, the longest expired first, which are queued at `now`.
   * Then queued ones that were published before `publishedBefore`, and whose `notBefore` has
   * passed, the longest published first. They count as published at `now`. `jobIds`: range of the
   * jobs; all by default.
   */
  requeueStalled(
    now: number,
    publishedBefore: number,
    limit: number,
    jobIds?: { atLeast?: string; below?: string },
  ): Promise<QueuedBatch[]>;
  /**
   * Counts queued and claimed batches by market and lane, and finds the oldest that are due at
   * `now`.
   */
  countBacklog(now: number): Promise<Backlog[]>;
}

/** A worker's write to a claimed batch. */
export interface OutcomeWrite {
  /** Outcomes by the index of the unit. */
  outcomes: Record<number, Outcome>;
  /**
   * The blob with the records of the outcomes. One that ends the batch contains every record of it,
   * and replaces the earlier segments.
   */
  segment?: Segment | null;
  /** Kept pages of the batch after the write. Null or absent to leave them as they are. */
  pages?: KeptPages | null;
  /**
   * Present if the write ends the batch: the batch's own file, if any, and the time. Every unit
   * must have an outcome by then.
   */
  end?: { file: StoredFile | null; at: number };
}

/** Methods of BatchStore that only read. */
export type ProgressStore = Pick<
  BatchStore,
  'countInFlight' | 'countJobs' | 'read' | 'countBacklog'
>;

/** Queued and claimed batches of a market and lane. */
export interface Backlog {
  market: string;
  lane: Lane;
  queued: number;
  claimed: number;
  /**
   * Time since which the oldest queued batch has been due: since it was queued, and not before its
   * `notBefore`. Null if none is due.
   */
  dueAt: number | null;
}

/** A batch that was just claimed. */
export interface ClaimedBatch extends Batch {
  /** Time from which the batch was due before the claim. Null if it was not published. */
  dueAt: number | null;
  /** True if the claim before ended without a release: its worker was killed, or lost its claim. */
  isInterrupted: boolean;
}

/** Batches of a job that are queued or claimed. */
export interface InFlight {
  batches: number;
  /** `batches` by region. Includes each region that has in-flight or deferred batches. */
  byRegion: ReadonlyMap<string, number>;
  /** Queued batches that must not be published yet, by region. Regions without any are left out. */
  deferred: ReadonlyMap<string, number>;
}

/** States of batches that batches.fail() can end. */
export type OutstandingState = 'waiting' | 'queued' | 'claimed';

/** Returns a batch that no worker has claimed. */
export function newBatch(
  identity: Pick<Batch, 'id' | 'jobId' | 'seq' | 'market' | 'region' | 'lane' | 'units'>,
): Batch {
  return {
    ...identity,
    outcomes: {},
    success: 0,
    failed: 0,
    state: 'waiting',
    attempt: 0,
    queuedAt: null,
    publishedAt: null,
    leaseUntil: null,
    notBefore: null,
    file: null,
    segments: [],
    pages: null,
    endedAt: null,
    stalledClaims: 0,
    storedBytes: 0,
    wait: null,
    isolated: null,
  };
}

export type Batches = { readonly batches: BatchStore };

/**
 * Moves batches that could not be published from `queued` back to `waiting`, not to be queued
 * before `notBefore`. Skips batches that have another attempt by now.
 */
export async function unqueue(
  { batches }: Batches,
  references: readonly BatchReference[],
  notBefore: number,
): Promise<void> {
  const change = {
    state: 'waiting' as const,
    queuedAt: null,
    publishedAt: null,
    notBefore,
  };
  await batches.writeAll(
    [],
    references.map((reference) => [
      { ...batchKey(reference), attempt: reference.attempt, state: 'queued' },
      change,
    ]),
  );
}

/** Returns true if any batch of the job is not done. */
export async function hasOutstanding({ batches }: Batches, jobId: string): Promise<boolean> {
  return (await batches.count({ jobId, state: { not: 'done' } }, 1)) > 0;
}

/** Returns the wait of a job's batches that ends first after `now`. Null if there is none. */
export async function firstWait(
  { batches }: Batches,
  jobId: string,
  now: number,
): Promise<BatchWait | null> {
  const waiting = { jobId, wait: { not: null }, 'wait.until': { above: now } };
  return (await batches.pick(waiting, ['wait'], { order: ['wait.until', 'seq'] }))?.wait ?? null;
}

/** Returns the batch and the index of the job's first unit with this key. Null if there is none. */
export async function findUnit(
  { batches }: Batches,
  jobId: string,
  key: string,
): Promise<{ batch: Batch; index: number } | null> {
  for await (const batch of batches.read(jobId, { key }))
    return { batch, index: batch.units.findIndex((unit) => unit.key === key) };
  return null;
}

/** Counts of a job as database queries return them. */
export interface CountRow {
  units: number;
  success: number;
  failed: number;
  batches: number;
  /** Done batches with at least one result. */
  good: number;
  /** Done batches without a result. */
  bad: number;
}

/** Converts a row to counts. */
export function readCounts({ units, success, failed, batches, good, bad }: CountRow): Counts {
  return {
    units: { total: units, success, failed },
    batches: { total: batches, success: good, failed: bad },
  };
}

/** Returns the counts of a job without batches. */
export function emptyCounts(): Counts {
  return {
    units: { total: 0, success: 0, failed: 0 },
    batches: { total: 0, success: 0, failed: 0 },
  };
}

/** Computes a job's counts from its batches. */
export async function countsOf(
  { batches }: { batches: Pick<BatchStore, 'countJobs'> },
  jobId: string,
): Promise<Counts> {
  return (await batches.countJobs([jobId])).get(jobId) ?? emptyCounts();
}

/** A count of batches in flight in one region of a job. */
export interface InFlightCount {
  jobId: string;
  region: string;
  batches: number;
  deferred: number;
}

/** Returns the counts of regions by job id. */
export function inFlightByJob(counts: readonly InFlightCount[]): Map<string, InFlight> {
  const byJob = Map.groupBy(counts, ({ jobId }) => jobId);
  return new Map([...byJob].map(([jobId, regions]) => [jobId, inFlightIn(regions)]));
}

function inFlightIn(regions: readonly InFlightCount[]): InFlight {
  const withDeferred = regions.filter(({ deferred }) => deferred > 0);
  return {
    batches: regions.reduce((sum, { batches }) => sum + batches, 0),
    byRegion: new Map(regions.map(({ region, batches }) => [region, batches])),
    deferred: new Map(withDeferred.map(({ region, deferred }) => [region, deferred])),
  };
}

/** Counts the batches of a job in flight (BatchStore.countInFlight). */
export async function inFlightOf(
  { batches }: { batches: Pick<BatchStore, 'countInFlight'> },
  jobId: string,
  now: number,
): Promise<InFlight> {
  return (await batches.countInFlight([jobId], now)).get(jobId) ?? inFlightIn([]);
}
