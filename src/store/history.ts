import type { TrackedField, TrackedValues } from '../base/tracked-values.ts';
import type { Collection } from './collection.ts';
import { type Page, type PageOptions, readCursor, rowsToRead, toPage } from './cursor.ts';

/** Identifies an item of a user. */
export interface ItemKey {
  userId: string;
  market: string;
  /** Region or, in a market whose stores are named by addresses, the store. */
  region: string;
  key: string;
}

/**
 * Latest state of an item: one document of the user, with the series '', and one for each series of
 * runs that the item was seen in. Written after the observation and the change that it leads to, so
 * that a crash repeats them.
 */
export interface TrackedItem extends ItemKey {
  /** Derived from the user, the series, and the item. */
  id: string;
  /** Name of the series. Empty for all jobs of the user. */
  series: string;
  values: TrackedValues;
  /**
   * Time of the latest reading whose values were compared. Readings at or before it have no news.
   */
  readAt: number;
  /** False if the latest run of the series that read its units did not find the item. */
  isPresent: boolean;
  /**
   * Units that listed the item in the latest run of the series that found it, and the time at which
   * each was read. Of an absent item, those that did not list it any more. Empty without a series.
   */
  units: Readonly<Record<string, number>>;
  /** Units that listed the item before, and could not be read in that run. */
  unreadUnits: readonly string[];
  /** Time of the first reading. */
  firstAt: number;
  /** Time and job of the latest change. They identify the latest observation. */
  changedAt: number;
  changedJob: string;
  /** Time and job in which the item was found last, in the order in which the jobs ended. */
  seenAt: number;
  seenJob: string;
  /** Job that was compared last of those that found the item, and its first batch with the item. */
  foundJob: string;
  foundBatch: number;
  /** States of the user's rules by id; only in the document with the series ''. */
  rules: Readonly<Record<string, RuleState>>;
  /** Incremented by each write, so that a superseded process's write has no effect. */
  revision: number;
}

/** A unit that listed an item in a series. Lets a later run find the items that the unit lacks. */
export interface ItemUnit {
  userId: string;
  /** Hash of the series and the unit. */
  unit: string;
  /** Id of the item's state in the series. */
  itemId: string;
}

/** State of a rule for one item, so that the rule does not fire again for the same condition. */
export interface RuleState {
  /** Revision of the rule. The state of another revision counts as none. */
  revision: number;
  /** True if the condition was true at the latest reading. */
  isTrue: boolean;
  /**
   * Value that the next one is compared with: the value in the last message, or the best one since.
   */
  reference: number | null;
  /** Currency of the price at the latest reading that stated one. Null if none did. */
  currency: string | null;
}

/** Values of an item since a time. Identified by the item, the time, and the job. */
export interface Observation extends ItemKey {
  at: number;
  jobId: string;
  /** All known values, including those that did not change. */
  values: TrackedValues;
  /** Values that differ from the previous observation; all stated ones for the first. */
  changed: readonly TrackedField[];
  /** Time of the observation that followed. Null for the latest one of the item. */
  endedAt: number | null;
}

/** Difference between a run and the one before. */
export type ItemChangeType = 'new' | 'changed' | 'missing' | 'back';

/** Change of an item in a run. */
export interface ItemChange extends ItemKey {
  /** Job, batch, and hash of the item, so that changes of a job are ordered by batch. */
  id: string;
  jobId: string;
  type: ItemChangeType;
  at: number;
  title: string | null;
  /**
   * Values that changed, before and after, and the currency of a price. Both are empty for missing
   * items.
   */
  before: Partial<TrackedValues>;
  after: Partial<TrackedValues>;
}

/** Number of items in a run by their difference from the run before. */
export type ChangeCounts = Record<ItemChangeType | 'unchanged', number>;

/**
 * Queue state of a tracking run. A user has at most one `active` run, so each run compares against
 * its predecessor's results. A `failed` run is retried, and runs of its series that follow are
 * `behind` it; neither blocks other series. Null when done.
 */
export type RunQueueState = 'waiting' | 'active' | 'failed' | 'behind' | null;

/** Comparison of a job's records with the previous run. Created when the job finishes. */
export interface TrackingRun {
  jobId: string;
  userId: string;
  market: string;
  kind: string;
  series: string;
  /** End of the job. Runs of a user are compared in this order. */
  at: number;
  /** Due time, or the expiry of the claim while a process has one. Null once the run is done. */
  dueAt: number | null;
  /**
   * Incremented by each claim. Writes name it, so that a superseded process's write has no effect.
   */
  revision: number;
  queueState: RunQueueState;
  /**
   * `items`: records are compared, batch by batch. `missing`: items that were not found are
   * determined.
   */
  stage: 'items' | 'missing' | 'done';
  /** Sequence number of the next batch of the stage. */
  nextBatch: number;
  counts: ChangeCounts;
  /** Number of messages that rules created. */
  messages: number;
  /** Time of the first failure since the last progress. Null for a run that has not failed. */
  failedAt: number | null;
  /** True for a run that ended without all of its records, because they could not be read. */
  isSkipped: boolean;
  doneAt: number | null;
}

export type RuleCondition =
  | 'price_falls_by'
  | 'price_rises_by'
  | 'price_below'
  | 'price_above'
  | 'back_in_stock'
  | 'out_of_stock'
  | 'changes';

/**
 * A rule of a user: which changes of which items cause a message. Empty scopes match everything.
 */
export interface Rule {
  id: string;
  userId: string;
  name: string;
  condition: RuleCondition;
  /** Percentage or price of the condition. Null for conditions without one. */
  threshold: number | null;
  /** Value that the condition `changes` watches. Empty for other conditions. */
  field: TrackedField | '';
  market: string;
  region: string;
  key: string;
  series: string;
  channel: 'webhook' | 'email';
  enabled: boolean;
  createdAt: number;
  updatedAt: number;
  /** Incremented by each write, from 1. */
  revision: number;
}

/** Filter for listTrackedItems(). Absent fields match everything. */
export interface TrackedItemFilter {
  market?: string | { in: readonly string[] };
  region?: string;
  /** Text in the title or the key, ignoring case. */
  search?: string;
}

/** An observation, and the time and job of the item's previous one. Null for the first. */
export interface AddedObservation {
  observation: Observation;
  previous: { at: number; jobId: string } | null;
}

const keyOf = ({ userId, market, region, key }: ItemKey): ItemKey => ({
  userId,
  market,
  region,
  key,
});

/** Writes observations unless they exist, and ends those before them. */
export function addObservations(
  { observations }: { observations: Collection<Observation> },
  added: readonly AddedObservation[],
): Promise<void> {
  const ends = added.flatMap(({ observation, previous }) => {
    if (previous === null) return [];
    const { at, jobId } = previous;
    return [[{ ...keyOf(observation), at, jobId }, { endedAt: observation.at }] as const];
  });
  return observations.writeAll(
    added.map(({ observation }) => observation),
    ends,
  );
}

type Observations = { observations: Collection<Observation> };

/** Lists the observations of an item from `from` to before `to`, newest first. */
export function listObservations(
  { observations }: Observations,
  item: ItemKey,
  from: number,
  to: number,
  page: PageOptions,
): Promise<Page<Observation>> {
  return observations.list({ ...keyOf(item), at: { atLeast: from, below: to } }, page);
}

/** Observations per query. */
const pageSize = 200;
/** Maximum observations that a search for a change of a field reads. */
const maxSearched = 4_000;

/**
 * Returns the observation of an item that is next to a time, or with `fields` the next one in which
 * one of them changed: `before` it or `after` it. Null if there is none among thousands.
 */
export async function findNextObservation(
  { observations }: Observations,
  item: ItemKey,
  { before, after }: { before: number; after?: undefined } | { before?: undefined; after: number },
  fields: readonly TrackedField[],
): Promise<Observation | null> {
  const at = before === undefined ? { above: after } : { below: before };
  const order = { newestFirst: before !== undefined, limit: fields.length === 0 ? 1 : pageSize };
  let position: [number, string] | null = null;
  for (let searched = 0; searched < maxSearched; searched += pageSize) {
    const found: Observation[] = await observations.find(
      { ...keyOf(item), at },
      { ...order, after: position },
    );
    const next = found.find((observation) => isChangeOf(observation, fields));
    if (next !== undefined) return next;
    const last = found.at(-1);
    if (last === undefined || found.length < order.limit) return null;
    position = [last.at, last.jobId];
  }
  return null;
}

/** Returns true if one of the fields changed in an observation, or if no fields are named. */
export const isChangeOf = ({ changed }: Observation, fields: readonly TrackedField[]): boolean =>
  fields.length === 0 || changed.some((field) => fields.includes(field));

/** Returns links of units of a user after the link `after`, ordered by unit and item. */
export async function findItemUnits(
  { itemUnits }: { itemUnits: Collection<ItemUnit> },
  userId: string,
  units: readonly string[],
  { after, limit }: { after: ItemUnit | null; limit: number },
): Promise<ItemUnit[]> {
  if (units.length === 0) return [];
  return itemUnits.find(
    { userId, unit: { in: units } },
    { order: ['unit', 'itemId'], after: after === null ? null : [after.unit, after.itemId], limit },
  );
}

/** Lists the items of a user and series by their latest change, newest first. */
export function listTrackedItems(
  { trackedItems }: { trackedItems: Collection<TrackedItem> },
  userId: string,
  series: string,
  { market, region, search }: TrackedItemFilter,
  page: PageOptions,
): Promise<Page<TrackedItem>> {
  const sought =
    search === undefined ? undefined : { fields: ['key', 'values.title'], text: search };
  return trackedItems.list(
    {
      userId,
      series,
      market,
      region,
    },
    page,
    sought,
  );
}

/** Returns the conditions of documents of a job, whose ids begin with the job's id. */
export const idsOfJob = (jobId: string) => ({ id: { above: `${jobId}/`, below: `${jobId}0` } });

/** Selects changes of a job, in the order of its batches. */
export interface ChangeSelection {
  /** Only changes of this type. Null for all. */
  type: ItemChangeType | null;
  /** Only changes that follow this id, which may be of a change that was deleted. */
  after: string;
  limit: number;
}

/** Returns the changes of a job that match, in the order of its batches. */
export async function findChanges(
  { itemChanges }: { itemChanges: Collection<ItemChange> },
  jobId: string,
  { type, after, limit }: ChangeSelection,
): Promise<ItemChange[]> {
  const { above, below } = idsOfJob(jobId).id;
  if (after >= below) return [];
  const id = { above: after > above ? after : above, below };
  return itemChanges.find({ id, type: type ?? undefined }, { order: ['id'], limit });
}

/** Lists the changes of a job, or only changes of a type, in the order of its batches. */
export async function listChanges(
  store: { itemChanges: Collection<ItemChange> },
  jobId: string,
  type: ItemChangeType | null,
  page: PageOptions,
): Promise<Page<ItemChange>> {
  const after = page.after ? readCursor(page).id : '';
  const found = await findChanges(store, jobId, { type, after, limit: rowsToRead(page) });
  return toPage(found, page, ({ at, id }) => ({ at, id }));
}

/** Counts the changes of a job by type. */
export async function countChanges(
  { itemChanges }: { itemChanges: Collection<ItemChange> },
  jobId: string,
): Promise<Record<ItemChangeType, number>> {
  const counted = await itemChanges.countBy(idsOfJob(jobId), ['type']);
  const counts = Object.fromEntries(counted.map(({ type, count }) => [type, count]));
  return {
    new: 0,
    changed: 0,
    missing: 0,
    back: 0,
    ...counts,
  };
}
