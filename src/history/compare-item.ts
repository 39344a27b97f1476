import type { TrackedValues } from '../base/tracked-values.ts';
import type {
  AddedObservation,
  ItemChange,
  ItemKey,
  Rule,
  RuleState,
  TrackedItem,
  TrackingRun,
} from '../store/history.ts';
import { changeId } from '../store/history-ids.ts';
import { compare, type Difference } from './compare.ts';
import type { FiredItem } from './message.ts';
import { evaluate, isInScope } from './rules.ts';

/** A reading of an item in a batch of a run. */
export interface Snapshot {
  item: ItemKey;
  values: TrackedValues;
  /** Hash, in the run's series, of the unit that listed the item. */
  unit: string;
  batch: number;
  /** Time at which the job found the item. Orders the runs. */
  at: number;
  /** Time at which the page was read, `at` or earlier. Observations and changes have this time. */
  readAt: number;
  /** True if the record was read for an earlier job. */
  isReused: boolean;
  /** True if the batch contained the item before. */
  isRepeated: boolean;
}

/** A state without the members that follow from the others. */
type NextState = Omit<TrackedItem, 'id' | 'revision'>;

/** A reading compared with the state of the item for all jobs of the user. */
export interface ComparedItem {
  state: NextState;
  difference: Difference;
  added: AddedObservation | null;
  fired: FiredItem | null;
}

/**
 * Compares a reading with the item's state for all jobs of the user. The latest reading has the
 * values, whichever job ended last: one that is not later than the state has no news.
 */
export function compareItem(
  run: TrackingRun,
  rules: readonly Rule[],
  snapshot: Snapshot,
  last: TrackedItem | undefined,
): ComparedItem {
  const { item, readAt } = snapshot;
  const difference = differenceOf(last, snapshot);
  const state = nextState(run, '', snapshot, last, difference);
  const isChanged = last === undefined || difference.changed.length > 0;
  const observation = {
    ...item,
    at: readAt,
    jobId: run.jobId,
    values: difference.values,
    changed: difference.changed,
    endedAt: null,
  };
  const previous = last ? { at: last.changedAt, jobId: last.changedJob } : null;
  const added = isChanged ? { observation, previous } : null;
  if (!hasNews(last, readAt) && !isSeenLater(run, snapshot, last))
    return { state, difference, added, fired: null };
  const { states, fired } = evaluateRules(run, rules, snapshot, last, difference);
  return {
    state: { ...state, rules: states },
    difference,
    added,
    fired,
  };
}

/** A reading compared with the state of the item in the series of the run. */
export interface ComparedMember {
  state: NextState;
  difference: Difference;
  type: ItemChange['type'] | null;
}

/**
 * Compares a reading with the item's state in the series of the run. `unreadUnits` are units that
 * listed the item before and could not be read in this run.
 */
export function compareMember(
  run: TrackingRun,
  snapshot: Snapshot,
  last: TrackedItem | undefined,
  unreadUnits: readonly string[],
): ComparedMember {
  const difference = differenceOf(last, snapshot);
  const state = nextState(run, run.series, snapshot, last, difference);
  if (last !== undefined && isRefuted(snapshot, last)) {
    const { isPresent, units } = last;
    return { state: { ...state, isPresent, units }, difference, type: null };
  }
  const units = { [snapshot.unit]: snapshot.readAt };
  return { state: { ...state, units, unreadUnits }, difference, type: typeOf(last, difference) };
}

/** Returns the change of an item of a run. */
export function changeOf(
  { jobId }: TrackingRun,
  { item, batch, readAt }: Snapshot,
  type: ItemChange['type'],
  { values, before, after }: Difference,
): ItemChange {
  const id = changeId(jobId, batch, item);
  return {
    id,
    ...item,
    jobId,
    type,
    at: readAt,
    title: values.title,
    before,
    after,
  };
}

/** Returns the type of the change between a state and a reading, or null if there is none. */
export function typeOf(
  last: TrackedItem | undefined,
  { changed }: Difference,
): ItemChange['type'] | null {
  if (last === undefined) return 'new';
  if (!last.isPresent) return 'back';
  return changed.length > 0 ? 'changed' : null;
}

const hasNews = (last: TrackedItem | undefined, readAt: number): boolean =>
  last === undefined || readAt > last.readAt;

function differenceOf(last: TrackedItem | undefined, { values, readAt }: Snapshot): Difference {
  return compare(
    last?.values ?? null,
    last === undefined || hasNews(last, readAt) ? values : last.values,
  );
}

/** Returns true if the run's job ended after the last job that found the item. */
function isSeenLater(
  { jobId }: TrackingRun,
  { at }: Snapshot,
  last: TrackedItem | undefined,
): boolean {
  if (last === undefined) return true;
  return last.seenAt < at || (last.seenAt === at && last.seenJob < jobId);
}

/** Returns true if the unit was read later, without the item, by a run that was compared before. */
function isRefuted(
  { unit, readAt, isReused }: Snapshot,
  { isPresent, units }: TrackedItem,
): boolean {
  const absentAt = units[unit];
  return !isPresent && !isReused && absentAt !== undefined && readAt <= absentAt;
}

function nextState(
  run: TrackingRun,
  series: string,
  snapshot: Snapshot,
  last: TrackedItem | undefined,
  { values, changed }: Difference,
): NextState {
  const { item, batch, at, readAt } = snapshot;
  const isChanged = last === undefined || changed.length > 0;
  const isLater = last === undefined || isSeenLater(run, snapshot, last);
  return {
    ...item,
    series,
    values,
    readAt: Math.max(last?.readAt ?? readAt, readAt),
    isPresent: true,
    units: {},
    unreadUnits: [],
    firstAt: last?.firstAt ?? readAt,
    changedAt: isChanged ? readAt : last.changedAt,
    changedJob: isChanged ? run.jobId : last.changedJob,
    seenAt: isLater ? at : last.seenAt,
    seenJob: isLater ? run.jobId : last.seenJob,
    foundJob: run.jobId,
    foundBatch: batch,
    rules: series === '' ? (last?.rules ?? {}) : {},
  };
}

/**
 * Evaluates the user's rules. Keeps the states of rules out of scope, and drops the states of
 * deleted rules.
 */
function evaluateRules(
  run: TrackingRun,
  rules: readonly Rule[],
  { item, readAt: at }: Snapshot,
  last: TrackedItem | undefined,
  { values: after, changed }: Difference,
): { states: Record<string, RuleState>; fired: FiredItem | null } {
  const states: Record<string, RuleState> = {};
  const before = last?.values ?? null;
  const firing: Rule[] = [];
  for (const rule of rules) {
    const state = last?.rules[rule.id];
    if (isInScope(rule, item, run.series)) {
      const result = evaluate(rule, state, { before, after, changed });
      if (result.state) states[rule.id] = result.state;
      if (result.fires) firing.push(rule);
    } else if (state) states[rule.id] = state;
  }
  if (firing.length === 0) return { states, fired: null };
  return {
    states,
    fired: {
      run,
      item,
      rules: firing,
      before,
      after,
      changed,
      at,
    },
  };
}
