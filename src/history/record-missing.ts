import type { JobContext } from '../jobs/context.ts';
import type { Batch } from '../store/batches.ts';
import type { Job } from '../store/documents.ts';
import {
  findItemUnits,
  type ItemChange,
  type ItemUnit,
  type TrackedItem,
  type TrackingRun,
} from '../store/history.ts';
import { changeId } from '../store/history-ids.ts';
import { addReadings, type JobUnits, type UnitReadings } from './unit-readings.ts';

/** Links per query. */
const pageSize = 200;

/** A run of a series in its stage `missing`. */
export interface MissingStage {
  run: TrackingRun;
  job: Job;
  units: JobUnits;
}

/**
 * Records the items that units of a batch listed before, and that this run did not find.
 * Idempotent: a recorded item is absent already, and its links are removed last.
 */
export async function recordMissing(
  { store }: Pick<JobContext, 'store'>,
  stage: MissingStage,
  batch: Batch,
): Promise<void> {
  const { run, job } = stage;
  const readings = new Map<string, number | null>();
  addReadings(readings, job, run.series, batch);
  const units: string[] = [];
  for (const [unit, readAt] of readings) if (readAt !== null) units.push(unit);
  let after: ItemUnit | null = null;
  for (;;) {
    const links: ItemUnit[] = await findItemUnits(store, run.userId, units, {
      after,
      limit: pageSize,
    });
    const ids = [...new Set(links.map(({ itemId }) => itemId))];
    const items = await store.trackedItems.find({ id: { in: ids } }, { order: [] });
    const absent: TrackedItem[] = [];
    for (const item of items) {
      const missing = await absentState(stage, item, readings);
      if (missing !== null) absent.push(missing);
    }
    await store.itemChanges.writeAll(absent.map((item) => missingChange(run, batch, item)));
    await store.trackedItems.upsert(absent);
    const states = new Map([...items, ...absent].map((item) => [item.id, item]));
    await removeLinks(
      store,
      links.filter(({ unit, itemId }) => !isListed(states.get(itemId), unit)),
    );
    if (links.length < pageSize) return;
    after = links.at(-1)!;
  }
}

/** Returns true if the latest run that found the item found it through the unit. */
const isListed = (item: TrackedItem | undefined, unit: string): boolean =>
  item?.isPresent === true && Object.hasOwn(item.units, unit);

async function removeLinks(
  { itemUnits }: JobContext['store'],
  links: readonly ItemUnit[],
): Promise<void> {
  for (const [unit, group] of Map.groupBy(links, (link) => link.unit))
    await itemUnits.remove({ unit, itemId: { in: group.map(({ itemId }) => itemId) } });
}

/** Returns the state of an item that this run proves to be absent, or null if it does not. */
async function absentState(
  { run, units: jobUnits }: MissingStage,
  item: TrackedItem,
  readings: UnitReadings,
): Promise<TrackedItem | null> {
  if (!item.isPresent || item.foundJob === run.jobId) return null;
  const units = Object.keys(item.units);
  if (!units.some((unit) => readings.has(unit))) return null;
  const isInBatch = [...units, ...item.unreadUnits].every((unit) => readings.has(unit));
  const absences = absencesOf(item, isInBatch ? readings : await jobUnits.all());
  if (absences === null) return null;
  return {
    ...item,
    isPresent: false,
    units: absences,
    unreadUnits: [],
    seenAt: run.at,
    seenJob: run.jobId,
    revision: item.revision + 1,
  };
}

/**
 * Returns the units of the job that listed an item last, and the times at which they no longer did.
 * Null if one of them may still list the item, since it could not be read, or was read before it
 * last listed the item.
 */
function absencesOf(
  { units, unreadUnits }: TrackedItem,
  readings: UnitReadings,
): Record<string, number> | null {
  if (unreadUnits.some((unit) => readings.get(unit) === null)) return null;
  const absences: Record<string, number> = {};
  for (const [unit, listedAt] of Object.entries(units)) {
    const readAt = readings.get(unit);
    if (readAt === undefined) continue;
    if (readAt === null || readAt <= listedAt) return null;
    absences[unit] = readAt;
  }
  return absences;
}

function missingChange(run: TrackingRun, { seq }: Batch, item: TrackedItem): ItemChange {
  const { userId, market, region, key, values } = item;
  return {
    id: changeId(run.jobId, seq, item),
    userId,
    market,
    region,
    key,
    jobId: run.jobId,
    type: 'missing',
    at: run.at,
    title: values.title,
    before: {},
    after: {},
  };
}
