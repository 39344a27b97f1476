import { parseDuration } from '../base/duration.ts';
import { sha256 } from '../base/id.ts';
import type { JobOptions } from '../contract/submit-options.ts';
import type { Kind } from '../kinds/kind.ts';
import type { Batch, Outcome, Unit } from '../store/batches.ts';
import type { Counts, Job } from '../store/documents.ts';
import type { Store } from '../store/store.ts';
import type { JobContext } from './context.ts';

/** Returns the option `max_age` of a job in milliseconds, or null if there is none. */
export function maxAgeMs({ maxAge }: JobOptions): number | null {
  return maxAge === undefined ? null : parseDuration(maxAge);
}

/**
 * Returns the credits for a unit whose result is reused: a percentage of the unit price, rounded
 * up.
 */
export function reusedPrice({ settings }: JobContext, unitPrice: number): number {
  return Math.ceil((unitPrice * settings.reusedPricePercent) / 100);
}

/** A result that is stored for later jobs. */
export interface StoredResult {
  /** Time at which it was read. */
  at: number;
  body: Uint8Array;
}

interface Recent {
  /** Result that the unit reuses. Null if there is none, or if the unit reuses none. */
  stored: StoredResult | null;
  /** True if a reused result is marked as such, and costs less. */
  isMarked: boolean;
  /** Stores the result of the unit for later jobs, if its kind or its job reuses results. */
  keep(at: number, body: Uint8Array): Promise<void>;
}

/** For a unit that neither reuses a result nor stores one. */
const notReused: Recent = { stored: null, isMarked: false, keep: async () => {} };

/** Finds the recent result that a unit reuses. */
export async function findRecent(
  { store, clock, settings, jobTypes }: JobContext,
  job: Job,
  batch: Batch,
  unit: Unit,
): Promise<Recent> {
  if (job.rereadOf !== null) return notReused;
  const { kind } = jobTypes.of(job);
  const ofOption = maxAgeMs(job.options);
  if (!kind.recent && ofOption === null) return notReused;
  // Batches of test jobs have the market of the sandbox's queue, so that live jobs never get their
  // pages.
  const site = job.mode === 'test' ? `${batch.market}/${job.market}` : job.market;
  const key = `${site}/${reuseKey(kind, unit, batch.region)}`;
  const maxMs = ofOption ?? (kind.recent?.serves(job) ? settings.recentCrawlMs : null);
  return {
    stored:
      maxMs === null
        ? null
        : await store.crawls.pick({ key, at: { atLeast: clock.now() - maxMs } }, ['at', 'body']),
    isMarked: ofOption !== null,
    keep: async (at, body) => {
      await store.crawls.upsert([{ key, at, body }]);
    },
  };
}

/**
 * Returns the key of a unit's result within its market. Kinds that read the same page share
 * records. A file has the format of its kind.
 */
function reuseKey({ recent, page, name, files }: Kind, unit: Unit, region: string): string {
  const source = files.unit === undefined ? page : name;
  return recent?.key(unit, region) ?? `${source}/${region}/${sha256(JSON.stringify(unit.input))}`;
}

/** Returns true if an outcome comes from a reused result. */
const isReused = (outcome: Outcome): boolean =>
  outcome.status === 'SUCCESS' && outcome.collectedAt !== undefined;

/** Counts the units of a job whose results were reused. Empty for a job without `max_age`. */
export async function countReused(
  store: Store,
  { id, reusedUnitPrice }: Pick<Job, 'id' | 'reusedUnitPrice'>,
): Promise<Pick<Counts['units'], 'reused'>> {
  if (reusedUnitPrice === null) return {};
  let reused = 0;
  for await (const { outcomes } of store.batches.read(id))
    reused += Object.values(outcomes).filter(isReused).length;
  return { reused };
}
