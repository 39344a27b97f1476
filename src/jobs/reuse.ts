import { parseDuration } from '../base/duration.ts';
import { sha256 } from '../base/id.ts';
import { Fault } from '../contract/fault.ts';
import type { JobOptions } from '../contract/submit-options.ts';
import type { Kind } from '../kinds/kind.ts';
import type { Counts, Job, Outcome, Unit } from '../store/documents.ts';
import type { JobContext, StoreUse } from './context.ts';
import type { Offer } from './offers.ts';

/** Returns the option `max_age` of a job in milliseconds; null without it. */
export function maxAgeMs({ maxAge }: JobOptions): number | null {
  return parseDuration(maxAge ?? '');
}

/** Throws the fault `invalid` for the option `max_age` if the units of an offer have files instead of records. */
export function requireReusable({ reader, kind }: Pick<Offer, 'reader' | 'kind'>, options: JobOptions): void {
  if (reader.sort === 'record' || maxAgeMs(options) === null) return;
  const msg = `Input is not supported for ${kind.name}: its results are files, which are not reused`;
  throw Fault.invalid(['query', 'max_age'], msg, 'value_error');
}

/** Returns the credits for a unit whose record is reused: a percentage of the unit price, rounded up. */
export function reusedPrice({ settings }: Pick<JobContext, 'settings'>, unitPrice: number): number {
  return Math.ceil((unitPrice * settings.reusedPricePercent) / 100);
}

/** Returns the key of a unit's record among those of its market. Kinds that read the same page share records. */
export function reuseKey(
  { recent, page }: Pick<Kind, 'recent' | 'page'>,
  unit: Unit,
  region: string,
): string {
  return recent?.key(unit, region) ?? `${page}/${region}/${sha256(JSON.stringify(unit.input))}`;
}

/** Returns whether an outcome is that of a reused record. */
const isReused = (outcome: Outcome): boolean =>
  outcome.status === 'SUCCESS' && outcome.collectedAt !== undefined;

/** Counts the units of a job whose records were reused; empty for a job without `max_age`. */
export async function countReused(
  { store }: StoreUse<'readBatches'>,
  { id, reusedUnitPrice }: Pick<Job, 'id' | 'reusedUnitPrice'>,
): Promise<Pick<Counts['units'], 'reused'>> {
  if (reusedUnitPrice === null) return {};
  let reused = 0;
  for await (const { outcomes } of store.readBatches(id))
    reused += Object.values(outcomes).filter(isReused).length;
  return { reused };
}
