import type { TrackedField, TrackedValues } from '../base/tracked-values.ts';
import type { Page, PageOptions } from './cursor.ts';

/** Identifies an item of a user. The region is empty for markets without regions. */
export interface ItemKey {
  userId: string;
  market: string;
  region: string;
  key: string;
}

/**
 * Latest state of an item: one document of the user, with the series '', and one for each series of runs that
 * the item was seen in. Written after the observation and the change that it leads to, so that a crash
 * repeats them.
 */
export interface TrackedItem extends ItemKey {
  /** Derived from the user, the series, and the item. */
  id: string;
  /** Name of the series. Empty for all jobs of the user. */
  series: string;
  /** Hash of the unit through which the item was last seen. */
  source: string;
  values: TrackedValues;
  /** False if the latest run of the series did not find the item. */
  isPresent: boolean;
  /** Time of the first reading. */
  firstAt: number;
  /** Time and job of the latest change. They identify the latest observation. */
  changedAt: number;
  changedJob: string;
  /** Time, job, and batch in which the item was found last. A job that found it before changes nothing. */
  seenAt: number;
  seenJob: string;
  seenBatch: number;
  /** States of the user's rules by id; only in the document with the series ''. */
  rules: Readonly<Record<string, RuleState>>;
}

/** State of a rule for one item, so that the rule does not fire again for the same condition. */
export interface RuleState {
  /** Revision of the rule. The state of another revision counts as none. */
  revision: number;
  /** True if the condition was true at the latest reading. */
  isTrue: boolean;
  /** Value that the next one is compared with: the value in the last message, or the best one since. */
  reference: number | null;
}

/** Values of an item since a time. Identified by the item, the time, and the job. */
export interface Observation extends ItemKey {
  at: number;
  jobId: string;
  /** All known values, including those that did not change. */
  values: TrackedValues;
  /** Values that differ from the observation before; all stated ones for the first. */
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
  /** Values that changed, before and after, and the currency of a price. Both are empty for missing items. */
  before: Partial<TrackedValues>;
  after: Partial<TrackedValues>;
}

/** Number of items in a run by their difference from the run before. */
export type ChangeCounts = Record<ItemChangeType | 'unchanged', number>;

/** Returns the counts by type, 0 for the types that are left out. */
export function countsOf(
  counted: readonly (readonly [ItemChangeType, number])[],
): Record<ItemChangeType, number> {
  return { new: 0, changed: 0, missing: 0, back: 0, ...Object.fromEntries(counted) };
}

/** Returns the conditions of documents of a job, whose ids begin with the job's id. */
export const idsOfJob = (jobId: string) => ({ id: { above: `${jobId}/`, below: `${jobId}0` } });

/**
 * Queue state of a tracking run. A user has at most one `active` run, so each run compares against its
 * predecessor's results. A `failed` run is retried and does not block other series. Null when done.
 */
export type RunTurn = 'waiting' | 'active' | 'failed' | null;

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
  /** Incremented by each claim. Writes name it, so that a superseded process's write has no effect. */
  take: number;
  turn: RunTurn;
  /** `items`: records are compared, batch by batch. `missing`: items that were not found are determined. */
  stage: 'items' | 'missing' | 'done';
  /** Sequence number of the next batch of the stage. */
  nextBatch: number;
  counts: ChangeCounts;
  /** Number of messages that rules created. */
  messages: number;
  doneAt: number | null;
}

/** Progress of a run. */
export type RunProgress = Pick<
  TrackingRun,
  'dueAt' | 'turn' | 'stage' | 'nextBatch' | 'counts' | 'messages' | 'doneAt'
>;

/** Condition of a rule. */
export type RuleCondition =
  | 'price_falls_by'
  | 'price_rises_by'
  | 'price_below'
  | 'price_above'
  | 'back_in_stock'
  | 'out_of_stock'
  | 'changes';

/** A rule of a user: which changes of which items cause a message. Empty scopes match everything. */
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
  market?: string;
  region?: string;
  /** Text in the title or the key, ignoring case. */
  search?: string;
}

/** Rules of users. */
export interface RuleStore {
  /** Inserts a rule. Returns false, and changes nothing, if its id exists. */
  createRule(rule: Rule): Promise<boolean>;
  /**
   * Replaces a rule if its revision follows the stored one. Returns false, and changes nothing, otherwise.
   */
  putRule(rule: Rule): Promise<boolean>;
  getRule(id: string): Promise<Rule | null>;
  /** Returns the rules of a user, oldest first. */
  listRules(userId: string): Promise<Rule[]>;
  /** Deletes a rule. Returns false if the user has none with this id. */
  deleteRule(id: string, userId: string): Promise<boolean>;
}

/** Histories of items, their comparison by runs, and rules. */
export interface HistoryStore extends RuleStore {
  /** Inserts a run. Returns false, and changes nothing, if the job has one. */
  createTrackingRun(run: TrackingRun): Promise<boolean>;
  getTrackingRun(jobId: string): Promise<TrackingRun | null>;
  /**
   * Claims up to `limit` runs that are due at `now`, longest due first, by incrementing `take`. Each goes to
   * one caller and is due again at `leaseUntil` unless that caller writes its progress before.
   */
  claimTrackingRuns(now: number, leaseUntil: number, limit: number): Promise<TrackingRun[]>;
  /** Writes the progress of a run. Returns false if the claim `take` was lost. */
  putRunProgress(jobId: string, take: number, progress: RunProgress): Promise<boolean>;
  /**
   * Returns true if a run of the user that is not done comes before this one, by the end and the id of the
   * job. Failed runs count in their own series only.
   */
  hasEarlierRun(run: Pick<TrackingRun, 'userId' | 'series' | 'at' | 'jobId'>): Promise<boolean>;
  /**
   * Makes a run the active one of its user. Returns false, and changes nothing, if the claim was lost or
   * another run of the user is active.
   */
  beginRun(run: Pick<TrackingRun, 'jobId' | 'userId' | 'take'>): Promise<boolean>;

  /** Returns the items that exist, in any order. */
  getTrackedItems(ids: readonly string[]): Promise<TrackedItem[]>;
  /** Writes items. Skips those with a later stored reading, by time and job. */
  putTrackedItems(items: readonly TrackedItem[]): Promise<void>;
  /**
   * Writes observations unless they exist, and ends those before them. `previous` is the time and job of the
   * item's observation before, null for the first.
   */
  addObservations(
    added: readonly { observation: Observation; previous: { at: number; jobId: string } | null }[],
  ): Promise<void>;
  /** Writes changes unless they exist. */
  addChanges(changes: readonly ItemChange[]): Promise<void>;
  /** Returns the changes that exist, in any order. */
  getChanges(ids: readonly string[]): Promise<ItemChange[]>;
  /**
   * Returns present items of a series with one of the sources that were last read before `before`, and not by
   * the job, by id.
   */
  findAbsentItems(
    userId: string,
    series: string,
    sources: readonly string[],
    { jobId, before }: { jobId: string; before: number },
    limit: number,
  ): Promise<TrackedItem[]>;

  /** Lists the items of a user and series by their latest change, newest first. */
  listTrackedItems(
    userId: string,
    series: string,
    filter: TrackedItemFilter,
    page: PageOptions,
  ): Promise<Page<TrackedItem>>;
  /** Lists the observations of an item from `from` to before `to`, newest first. */
  listObservations(item: ItemKey, from: number, to: number, page: PageOptions): Promise<Page<Observation>>;
  /** Returns the latest observation of an item before `at`. */
  findObservation(item: ItemKey, before: number): Promise<Observation | null>;
  /** Lists the changes of a job, or only changes of a type, in the order of its batches. */
  listChanges(jobId: string, type: ItemChangeType | null, page: PageOptions): Promise<Page<ItemChange>>;
  /** Counts the changes of a job by type. */
  countChanges(jobId: string): Promise<Record<ItemChangeType, number>>;
}
