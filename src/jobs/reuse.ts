import { parseDuration } from '../base/duration.ts';
import { sha256 } from '../base/id.ts';
import type { JobOptions } from '../contract/submit-options.ts';
import type { Kind } from '../kinds/kind.ts';
import type { Batch, Outcome, Unit } from '../store/batches.ts';
import type { Counts, Job } from '../store/documents.ts';
import type { JobContext, StoreUse } from './context.ts';
import type { ResolvedJobType } from './job-types.ts';

/** Returns the option `max_age` of a job in milliseconds, or null if there is none. */
export function maxAgeMs({ maxAge }: JobOptions): number | null {
  return parseDuration(maxAge ?? '');
}

/** Returns the credits for a unit whose result is reused: a percentage of the unit price, rounded up. */
export function reusedPrice({ settings }: Pick<JobContext, 'settings'>, unitPrice: number): number {
  return Math.ceil((unitPrice * settings.reusedPricePercent) / 100);
}

/** Cache key and reuse policy of a unit. */
interface Recent {
  /** Key under which a result is stored for later jobs. Null if the unit neither stores nor reuses one. */
  key: string | null;
  /** Maximum age of a result that the unit reuses, in milliseconds. Null if it reuses none. */
  maxAgeMs: number | null;
  /** True if a reused result is marked as such, and costs less. */
  isMarked: boolean;
}

/** Returns which recent results a unit stores and reuses. */
export function recentOf(
  { settings }: Pick<JobContext, 'settings'>,
  { kind }: Pick<ResolvedJobType, 'kind'>,
  job: Job,
  batch: Batch,
  unit: Unit,
): Recent {
  if (job.rereadOf !== null) return { key: null, maxAgeMs: null, isMarked: false };
  const ofOption = maxAgeMs(job.options);
  // Batches of test jobs have the market of the sandbox's queue, so that live jobs never get their pages.
  const place = job.mode === 'test' ? `${batch.market}/${job.market}` : job.market;
  return {
    key: kind.recent || ofOption !== null ? `${place}/${reuseKey(kind, unit, batch.region)}` : null,
    maxAgeMs: ofOption ?? (kind.recent?.serves(job) ? settings.recentCrawlMs : null),
    isMarked: ofOption !== null,
  };
}

/**
 * Returns the key of a unit's result within its market. Kinds that read the same page share records. A file
 * has the format of its kind.
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
  { store }: StoreUse<'batches'>,
  { id, reusedUnitPrice }: Pick<Job, 'id' | 'reusedUnitPrice'>,
): Promise<Pick<Counts['units'], 'reused'>> {
  if (reusedUnitPrice === null) return {};
  let reused = 0;
  for await (const { outcomes } of store.batches.read(id))
    reused += Object.values(outcomes).filter(isReused).length;
  return { reused };
}
