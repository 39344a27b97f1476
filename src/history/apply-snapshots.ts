import type { JobContext } from '../jobs/context.ts';
import {
  type AddedObservation,
  addObservations,
  type ChangeCounts,
  type ItemChange,
  type ItemKey,
  type ItemUnit,
  type Rule,
  type TrackedItem,
  type TrackingRun,
} from '../store/history.ts';
import { changeId, trackedItemId } from '../store/history-ids.ts';
import type { Store } from '../store/store.ts';
import { changeOf, compareItem, compareMember, type Snapshot, typeOf } from './compare-item.ts';
import type { FiredItem } from './message.ts';
import { notifyOfItem } from './notify-item.ts';

/** Maximum messages that the rules of a user create in one run. */
const maxMessages = 1_000;
/** Maximum units of an item whose later readings decide whether it is missing. */
const maxUnits = 20;

/** Context of the comparison of a run's items. */
export interface Comparison {
  run: TrackingRun;
  /**
   * True if a run of the series that ended later has been compared. The series then stays as it is.
   */
  isLate: boolean;
  rules: readonly Rule[];
  /** Returns the units of the job that could not be read to their end. */
  unreadUnits(): Promise<ReadonlySet<string>>;
}

/** Number of items by change, and of messages. */
export interface SnapshotResult {
  counts: ChangeCounts;
  messages: number;
}

/** Effects of a chunk of snapshots. */
interface Effects {
  states: ItemStates;
  observations: AddedObservation[];
  changes: Map<string, ItemChange>;
  fired: FiredItem[];
  links: ItemUnit[];
}

/**
 * Compares items of a run with their stored states and stores the differences: observations and
 * changes, messages of rules, links to units, then the states. Every write is idempotent, and the
 * states come last, so that a repeated call after a crash writes the same, and one after the end
 * writes nothing. An item that the run found before only gets further units.
 */
export async function applySnapshots(
  context: JobContext,
  comparison: Comparison,
  snapshots: readonly Snapshot[],
): Promise<SnapshotResult> {
  const { store } = context;
  const { run, isLate } = comparison;
  const series = isLate ? '' : run.series;
  const states = await readItemStates(
    store,
    run,
    snapshots.map(({ item }) => item),
  );
  const effects: Effects = {
    states,
    observations: [],
    changes: new Map(),
    fired: [],
    links: [],
  };
  const counted: string[] = [];
  const repeated: string[] = [];
  for (const snapshot of snapshots) {
    // Items found by the run are recorded in its series only, as other runs may have been compared
    // since.
    const found = states.get(snapshot.item, series);
    const isFound = found?.foundJob === run.jobId;
    if (isFound) addUnit(comparison, snapshot, effects);
    else await addItem(comparison, snapshot, effects);
    const id = changeId(run.jobId, snapshot.batch, snapshot.item);
    const isFirst = !isFound || found.foundBatch === snapshot.batch;
    if (isFirst && !snapshot.isRepeated) counted.push(id);
    if (isFound && isFirst) repeated.push(id);
  }
  await addObservations(store, effects.observations);
  await store.itemChanges.writeAll([...effects.changes.values()]);
  const messages = await notify(context, run, effects.fired);
  await store.itemUnits.writeAll(effects.links);
  await store.trackedItems.upsert(states.changed());
  // Changes that an attempt before a crash stored.
  const stored =
    repeated.length === 0
      ? []
      : await store.itemChanges.find({ id: { in: repeated } }, { order: [] });
  return { counts: countTypes(counted, [...stored, ...effects.changes.values()]), messages };
}

/** Compares an item that the run finds for the first time. */
async function addItem(
  comparison: Comparison,
  snapshot: Snapshot,
  { states, observations, changes, fired, links }: Effects,
): Promise<void> {
  const { run, isLate, rules } = comparison;
  const { item, unit } = snapshot;
  const last = states.get(item, '');
  const own = compareItem(run, rules, snapshot, last);
  states.set(own.state);
  if (own.added !== null) observations.push(own.added);
  if (own.fired !== null) fired.push(own.fired);
  if (isLate) return;
  const addChange = (type: ItemChange['type'] | null, difference: typeof own.difference) => {
    if (type === null) return;
    const change = changeOf(run, snapshot, type, difference);
    changes.set(change.id, change);
  };
  if (run.series === '') return addChange(typeOf(last, own.difference), own.difference);
  const before = states.get(item, run.series);
  const unreadUnits = await unreadUnitsOf(comparison, before, unit);
  const member = compareMember(run, snapshot, before, unreadUnits);
  states.set(member.state);
  addChange(member.type, member.difference);
  if (!isLinked(before, unit) && member.state.isPresent) links.push(linkOf(run, snapshot));
}

/** Returns units that listed an item before and could not be read to their end in this run. */
async function unreadUnitsOf(
  { unreadUnits }: Comparison,
  before: TrackedItem | undefined,
  unit: string,
): Promise<string[]> {
  if (before === undefined || !before.isPresent) return [];
  const otherUnits = new Set([...Object.keys(before.units), ...before.unreadUnits]);
  otherUnits.delete(unit);
  if (otherUnits.size === 0) return [];
  const unread = await unreadUnits();
  return [...otherUnits].filter((other) => unread.has(other)).slice(0, maxUnits);
}

/** Adds another unit that listed an item that the run has found. */
function addUnit(
  { run, isLate }: Comparison,
  snapshot: Snapshot,
  { states, links }: Effects,
): void {
  const { item, unit, readAt } = snapshot;
  const member = isLate || run.series === '' ? undefined : states.get(item, run.series);
  if (!member?.isPresent || Object.hasOwn(member.units, unit)) return;
  if (Object.keys(member.units).length >= maxUnits) return;
  states.set({ ...member, units: { ...member.units, [unit]: readAt } });
  links.push(linkOf(run, snapshot));
}

const isLinked = (member: TrackedItem | undefined, unit: string): boolean =>
  member?.isPresent === true && Object.hasOwn(member.units, unit);

const linkOf = ({ userId, series }: TrackingRun, { item, unit }: Snapshot): ItemUnit => ({
  userId,
  unit,
  itemId: trackedItemId(item, series),
});

/** Queues the messages about items. Returns their number. */
async function notify(
  context: JobContext,
  run: TrackingRun,
  fired: readonly FiredItem[],
): Promise<number> {
  let messages = 0;
  for (const item of fired) {
    if (run.messages + messages >= maxMessages) break;
    if (await notifyOfItem(context, item)) messages += 1;
  }
  return messages;
}

/** Counts items by their change. */
function countTypes(ids: readonly string[], changes: readonly ItemChange[]): ChangeCounts {
  const types = new Map(changes.map(({ id, type }) => [id, type]));
  const counts = {
    new: 0,
    changed: 0,
    missing: 0,
    back: 0,
    unchanged: 0,
  };
  for (const id of ids) counts[types.get(id) ?? 'unchanged'] += 1;
  return counts;
}

/** States of items, with the changes that are not written yet. */
interface ItemStates {
  /** Returns the state of an item in a series, or with '' for all jobs of the user. */
  get(item: ItemKey, series: string): TrackedItem | undefined;
  /** Replaces the state of an item in its series. */
  set(state: Omit<TrackedItem, 'id' | 'revision'>): void;
  /** Returns the states that were replaced. */
  changed(): TrackedItem[];
}

/**
 * Reads the states of items for all jobs of the user and, unless it is empty, in the series of a
 * run.
 */
async function readItemStates(
  { trackedItems }: Pick<Store, 'trackedItems'>,
  { series }: Pick<TrackingRun, 'series'>,
  items: readonly ItemKey[],
): Promise<ItemStates> {
  const names = series === '' ? [''] : ['', series];
  const ids = new Set<string>();
  for (const item of items) for (const name of names) ids.add(trackedItemId(item, name));
  const found = await trackedItems.find({ id: { in: [...ids] } }, { order: [] });
  const stored = new Map(found.map((state) => [state.id, state]));
  const changed = new Map<string, TrackedItem>();
  return {
    get: (item, name) => {
      const id = trackedItemId(item, name);
      return changed.get(id) ?? stored.get(id);
    },
    set: (state) => {
      const id = trackedItemId(state, state.series);
      changed.set(id, { ...state, id, revision: (stored.get(id)?.revision ?? 0) + 1 });
    },
    changed: () => [...changed.values()],
  };
}
