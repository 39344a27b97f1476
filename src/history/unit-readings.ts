import type { Batch, Outcome } from '../store/batches.ts';
import type { Job } from '../store/documents.ts';
import { seriesUnit } from '../store/history-ids.ts';
import type { Store } from '../store/store.ts';

/**
 * Faults of units whose item is gone from the site. After any other fault nothing is known about
 * it.
 */
const goneCodes: ReadonlySet<string> = new Set(['page_not_found', 'page_private']);

/**
 * Times at which a job read its units, by the hashes of the units in its series. Null for a unit
 * that could not be read, or not to its end, which may still list what it listed before.
 */
export type UnitReadings = ReadonlyMap<string, number | null>;

/**
 * Returns the time at which a unit was read, or null if it could not be read to its end. A fault
 * has no time of its own and counts as read at `earliest`.
 */
function readingTimeOf(outcome: Outcome | undefined, earliest: number): number | null {
  if (outcome?.status === 'SUCCESS') return outcome.hasMore ? null : outcome.readAt;
  if (outcome !== undefined && goneCodes.has(outcome.code)) return earliest;
  return null;
}

/**
 * Adds the units of a batch to readings. A unit whose item is gone counts as read at the start of
 * the job, so that an item that another run found meanwhile is not reported missing. A unit that
 * was submitted twice counts as read if one of them was.
 */
export function addReadings(
  readings: Map<string, number | null>,
  { startedAt, createdAt }: Pick<Job, 'startedAt' | 'createdAt'>,
  series: string,
  batch: Batch,
): void {
  for (const [index, { key }] of batch.units.entries()) {
    const unit = seriesUnit(series, batch, key);
    const readAt = readingTimeOf(batch.outcomes[index], startedAt ?? createdAt);
    const earlier = readings.get(unit) ?? null;
    readings.set(
      unit,
      earlier === null || (readAt !== null && readAt > earlier) ? readAt : earlier,
    );
  }
}

/** Readings of the units of a job, read from the store at the first call. */
export interface JobUnits {
  /** Returns the readings of all units. */
  all(): Promise<UnitReadings>;
  /** Returns the units that could not be read to their end. */
  unread(): Promise<ReadonlySet<string>>;
}

/** Creates the readings of the units of a job in a series. */
export function createJobUnits(store: Pick<Store, 'batches'>, job: Job, series: string): JobUnits {
  const readAll = async () => {
    const readings = new Map<string, number | null>();
    for await (const batch of store.batches.read(job.id)) addReadings(readings, job, series, batch);
    return readings;
  };
  const findUnread = async () => {
    const unreadUnits = new Set<string>();
    for (const [unit, readAt] of await units.all()) if (readAt === null) unreadUnits.add(unit);
    return unreadUnits;
  };
  let all: Promise<UnitReadings> | null = null;
  let unread: Promise<ReadonlySet<string>> | null = null;
  const units: JobUnits = {
    all: () => {
      all ??= readAll();
      return all;
    },
    unread: () => {
      unread ??= findUnread();
      return unread;
    },
  };
  return units;
}
