import type { Clock } from '../base/clock.ts';
import type { DiskSpace } from '../base/disk-space.ts';
import type { Fault } from '../base/fault.ts';
import type { NewId } from '../base/id.ts';
import type { Log } from '../base/log.ts';
import type { NoticeSettings } from '../base/notice-settings.ts';
import type { Origins } from '../base/origins.ts';
import type { SettingInForce } from '../base/settings.ts';
import type { WorkingHours } from '../base/working-hours.ts';
import type { Blobs } from '../blobs/blobs.ts';
import type { DriftWatch } from '../drift/watch.ts';
import type { GateCaller } from '../fetch/gate.ts';
import type { FetchPage } from '../fetch/page.ts';
import type { Queue } from '../queue/queue.ts';
import type { Job, StoredFile } from '../store/documents.ts';
import type { Store } from '../store/store.ts';
import type { JobChanges } from './changes.ts';
import type { Offers } from './offers.ts';

/** What every step of a job's life is handed. */
export interface JobContext {
  store: Store;
  queue: Queue;
  blobs: Blobs;
  disk: DiskSpace;
  clock: Clock;
  log: Log;
  newId: NewId;
  /** Returns at least 0 and less than 1; spreads retries. */
  random(): number;
  offers: Offers;
  settings: JobSettings;
  links: JobLinks;
  pages: Pages;
  drift: DriftWatch;
  changes: JobChanges;
}

/** Configuration that the steps look at. */
export interface JobSettings {
  approval: boolean;
  /** null: always. */
  workingHours: WorkingHours | null;
  /** Batches of one job and region under way at once, at least. */
  jobWindow: number;
  /** Credits per unit by `kind` or `market.kind`, over the kinds' own. */
  prices: ReadonlyMap<string, number>;
  /** How old a page may be that is served instead of fetched, in milliseconds. */
  recentCrawlMs: number;
  /** Where the marketplaces are and how gently they are asked. */
  origins: Origins;
  /** Every setting, for operators to look at. */
  inForce: readonly SettingInForce[];
  /** How people are told of jobs. */
  notices: NoticeSettings;
}

/** How results are pointed at. */
export interface JobLinks {
  /** A signed link to a file, good for 7 days. `bearer`: it also needs the owner's Bearer token. */
  file(job: Job, file: StoredFile, bearer: boolean): Promise<string>;
  /** Token of a unit for the data path, and back; null when it is not one of this job. */
  itemToken(jobId: string, batchId: string, index: number): string;
  readItemToken(jobId: string, token: string): { batchId: string; index: number } | null;
}

/** How workers reach the marketplaces: politely, over all workers together. */
export interface Pages {
  /** Begins to read one unit from a market's origin of a region; an urgent one comes before others, and users get
   *  equal shares. */
  visit(market: string, region: string, signal: AbortSignal, caller: GateCaller): Visit;
  /** Requests that an origin of the market can have under way at once, over all workers together. */
  concurrency(market: string): number;
}

/** Reading one unit. */
export interface Visit {
  fetch: FetchPage;
  /** Takes what reading came to, null for a result: an origin that refuses is left alone for a while. */
  ended(fault: Fault | null): Promise<void>;
}

/** How long an operator has (interface, "Limits": 24 hours). */
export const approvalWaitMs = 24 * 3_600_000;

/** How long a claim lasts unless renewed: a worker's sudden death costs its batches this much time. */
export const leaseMs = 15_000;

/** How long an idempotency key is remembered (decisions, "idempotency"). */
export const idempotencyMs = 24 * 3_600_000;
