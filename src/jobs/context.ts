import type { Clock } from '../base/clock.ts';
import type { Config } from '../base/config.ts';
import type { DiskSpace } from '../base/disk-space.ts';
import type { NewId } from '../base/id.ts';
import type { Limits } from '../base/limits.ts';
import type { Log } from '../base/log.ts';
import type { Blobs } from '../blobs/blobs.ts';
import type { Fault } from '../contract/fault.ts';
import type { Destinations } from '../destinations/destinations.ts';
import type { AcquireOptions } from '../fetch/concurrency-limit.ts';
import type { FetchPage } from '../fetch/page.ts';
import type { RecordMemory } from '../fetch/page-memory.ts';
import type { DriftWatcher } from '../quality/drift-watcher.ts';
import type { Queue } from '../queue/queue.ts';
import type { BatchReference } from '../store/batches.ts';
import type { Job, Mode, StoredFile } from '../store/documents.ts';
import type { Store } from '../store/store.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { JobChanges } from './job-events.ts';
import type { JobTypes } from './job-types.ts';
import type { SharedCounts } from './shared-counts.ts';

/** A unit of a claimed batch whose page is read. */
export interface UnitReading {
  jobId: string;
  batchId: string;
  attempt: number;
  /** Index of the unit in its batch. */
  index: number;
}

/** Guard of a worker process against pages that end it. */
export interface ReadingGuard {
  /**
   * Resolves once no page of another unit is being read, and records that the microtasks that
   * follow read a page of this one.
   */
  begin(unit: UnitReading): Promise<void>;
  /**
   * Hands a released batch, of which a claim ended without progress, to the process that reads such
   * batches. Absent in that process.
   */
  handOver?: (message: BatchReference) => void;
}

/** Dependencies of the steps and queries of jobs, and of schedules and histories. */
export interface JobContext {
  store: Store;
  queue: Queue;
  blobs: Blobs;
  disk: DiskSpace;
  clock: Clock;
  log: Log;
  metrics: Metrics;
  newId: NewId;
  /** Returns a number in [0, 1) that spreads retries. */
  random(): number;
  jobTypes: JobTypes;
  settings: JobSettings;
  links: JobLinks;
  pages: Pages;
  drift: DriftWatcher;
  changes: JobChanges;
  sharedCounts: SharedCounts;
  destinations: Destinations;
  /** Absent in processes that read no pages, or that no other process watches. */
  guard?: ReadingGuard;
}

/** Settings read by the steps. */
export interface JobSettings
  extends Pick<
      Config,
      | 'approval'
      | 'workingHours'
      | 'prices'
      | 'sandbox'
      | 'origins'
      | 'effectiveSettings'
      | 'mongoUri'
      | 'backupTo'
      | 'publicUrl'
      | 'notices'
      | 'retention'
    >,
    Pick<Limits, 'jobWindow' | 'recentCrawlMs' | 'reusedPricePercent' | 'keptPageBytes'> {
  /** Version of the program, and of its readers. */
  version: string;
}

/** Creates and reads the links and tokens of results. */
export interface JobLinks {
  /**
   * Returns a signed link to a file, valid for 7 days. With `bearer`, it also requires the owner's
   * Bearer token.
   */
  file(job: Job, file: StoredFile, bearer: boolean): Promise<string>;
  /**
   * Returns a signed link to the service, never to the storage, so that a format can be added to
   * it.
   */
  records(job: Job, file: StoredFile, bearer: boolean): string;
  /**
   * Returns the path at which the service serves an image of a record, or null if it shows none.
   */
  image(url: string): string | null;
  /** Returns the token of a unit for the data endpoint. */
  itemToken(jobId: string, batchId: string, index: number): string;
  /** Returns the unit of a token, or null if the token is invalid or belongs to another job. */
  readItemToken(jobId: string, token: string): { batchId: string; index: number } | null;
}

/** Access of workers to the marketplaces, within the rate limits that all workers share. */
export interface Pages {
  /**
   * Opens a session that reads one unit from a market's origin of a region. Urgent callers come
   * first, and users get equal shares.
   */
  openSession(market: string, region: string, signal: AbortSignal, caller: UnitCaller): UnitSession;
  /** Returns the maximum concurrent requests to one origin of the market, over all workers. */
  concurrency(market: string, region: string): number;
  /** Memory for records, which they share with the pages. */
  records: RecordMemory;
  /**
   * Starts an urgent task, for which other requests of this process make room. Returns the function
   * that ends it.
   */
  beginUrgent(): () => void;
}

/** The job that a unit is read for. */
export interface UnitCaller extends AcquireOptions {
  /** Mode of the job: a test job reads the sandbox. */
  mode: Mode;
}

/** Session that reads one unit. */
export interface UnitSession {
  fetch: FetchPage;
  /**
   * Delay before another attempt at the unit in milliseconds; by default, it depends on the fault
   * and the attempt.
   */
  retryMs?: number;
  /** Time at which the pages were read, if they are kept pages. */
  readAt?: number;
  /** Reports the end of the session, null for success. Refusals pause the origin. */
  end(fault: Fault | null): Promise<void>;
}

/** Time after which an undecided job or schedule is rejected, in milliseconds. */
export const approvalWaitMs = 24 * 3_600_000;
/** Reason given for the rejection of an undecided job or schedule. */
export const undecidedReason = `It was not approved within ${approvalWaitMs / 3_600_000} hours.`;

/** Duration of a claim unless renewed, in milliseconds; the time lost when a worker dies. */
export const leaseMs = 15_000;

/** Retention of an idempotency key, in milliseconds. */
export const idempotencyMs = 24 * 3_600_000;
