import { type TrackedField, type TrackedValues, trackedFields } from '../base/tracked-values.ts';
import { queueEmailForUser, queueForUser } from '../delivery/notify/queue.ts';
import type { JobContext } from '../jobs/context.ts';
import {
  addObservations,
  type ChangeCounts,
  type ItemChange,
  type ItemKey,
  type Observation,
  type Rule,
  type RuleState,
  type TrackedItem,
  type TrackingRun,
} from '../store/history.ts';
import { changeId, trackedItemId } from '../store/history-ids.ts';
import { type FiredItem, itemEmail, itemNotice } from './message.ts';
import { evaluate, isInScope } from './rules.ts';

/** Difference of a reading from the values before it. */
export interface Difference {
  /** All known values: the reading's, and earlier values of fields that the reading lacks. */
  values: TrackedValues;
  changed: readonly TrackedField[];
  /** The changed values, before and after, and the currency of a changed price. */
  before: Partial<TrackedValues>;
  after: Partial<TrackedValues>;
}

/**
 * Compares a reading with the last known values, null for an item that was not read before. A value that the
 * reading does not state is no change, because pages of other kinds state other values.
 */
export function compare(last: TrackedValues | null, reading: TrackedValues): Difference {
  const stated = trackedFields.filter((field) => reading[field] !== null);
  const values = { ...(last ?? reading), ...pick(reading, stated) };
  const changed = last === null ? stated : stated.filter((field) => !isEqual(last[field], reading[field]));
  const shown = trackedFields.filter(
    (field) => changed.includes(field) || (field === 'currency' && changed.includes('price')),
  );
  return {
    values,
    changed,
    before: last === null ? {} : pick(last, shown),
    after: pick(values, shown),
  };
}

/** Returns the named values only. */
function pick(values: TrackedValues, fields: readonly TrackedField[]): Partial<TrackedValues> {
  return Object.fromEntries(fields.map((field) => [field, values[field]]));
}

const isEqual = (one: unknown, other: unknown): boolean =>
  one === other || (typeof one === 'object' && JSON.stringify(one) === JSON.stringify(other));

/**
 * Queues the messages about an item: one webhook and one email at most for each job and item, under stable
 * keys. Returns false if none was queued, because the user has no enabled webhook or no address.
 */
async function notifyOfItem(context: JobContext, fired: FiredItem): Promise<boolean> {
  const { userId } = fired.item;
  const { jobId } = fired.run;
  const about = `${jobId}:${trackedItemId(fired.item, '')}`;
  const rulesOf = (channel: 'webhook' | 'email') => fired.rules.filter((rule) => rule.channel === channel);
  let queued = false;
  const byWebhook = rulesOf('webhook');
  if (byWebhook.length > 0) {
    const notice = () => itemNotice({ ...fired, rules: byWebhook });
    queued = (await queueForUser(context, userId, about, jobId, notice)) !== null;
  }
  const byEmail = rulesOf('email');
  if (byEmail.length > 0 && context.settings.notices.email !== null) {
    const user = await context.store.users.get(userId);
    if (user === null || user.email === '') return queued;
    const email = itemEmail({ ...fired, rules: byEmail });
    await queueEmailForUser(context, user, about, jobId, { type: 'item.changed', email });
    return true;
  }
  return queued;
}

/** Maximum messages that the rules of a user create in one run. */
const maxMessages = 1_000;

/** An item in a batch of a run. */
export interface Snapshot {
  item: ItemKey;
  values: TrackedValues;
  source: string;
  batch: number;
  /** Time at which the job found the item. Orders the runs. */
  at: number;
  /** Time at which the page was read, `at` or earlier. Observations and changes have this time. */
  readAt: number;
  /** True if the record was read for an earlier job. */
  isReused: boolean;
}

/** Number of items by change, and of messages. */
export interface SnapshotResult {
  counts: ChangeCounts;
  messages: number;
}

/** Effects of one reading of an item. */
interface Outcome {
  items: TrackedItem[];
  added: { observation: Observation; previous: { at: number; jobId: string } | null } | null;
  change: ItemChange | null;
  fired: FiredItem | null;
}

/**
 * Compares items of a run with their stored states and stores the differences: observations and changes,
 * messages of rules, then the states. Every write is idempotent, and the states come last, so that a repeated
 * call after a crash writes the same, and one after the end writes nothing. Items that another batch of the
 * job contained are left out.
 */
export async function applySnapshots(
  context: JobContext,
  run: TrackingRun,
  rules: readonly Rule[],
  snapshots: readonly Snapshot[],
): Promise<SnapshotResult> {
  const { store } = context;
  const series = run.series === '' ? [''] : ['', run.series];
  const ids = snapshots.flatMap(({ item }) => series.map((name) => trackedItemId(item, name)));
  const stored = new Map(
    (await store.trackedItems.find({ id: { in: ids } }, { order: [] })).map((each) => [each.id, each]),
  );
  const stateOf = (item: ItemKey, name: string) => stored.get(trackedItemId(item, name));
  const fresh = snapshots.filter(({ item, batch }) => {
    const state = stateOf(item, run.series);
    return state?.seenJob !== run.jobId || state.seenBatch === batch;
  });
  const repeated = fresh.filter(({ item }) => stateOf(item, run.series)?.seenJob === run.jobId);
  const known = new Map(
    (
      await store.itemChanges.find(
        { id: { in: repeated.map(({ item, batch }) => changeId(run.jobId, batch, item)) } },
        { order: [] },
      )
    ).map(({ id, type }) => [id, type]),
  );
  const outcomes = fresh.map((snapshot) => {
    const own = stateOf(snapshot.item, '');
    const member = run.series === '' ? own : stateOf(snapshot.item, run.series);
    return outcomeOf(run, rules, snapshot, own, member);
  });
  await addObservations(
    store,
    outcomes.flatMap(({ added }) => added ?? []),
  );
  await store.itemChanges.writeAll(outcomes.flatMap(({ change }) => change ?? []));
  let messages = 0;
  for (const { fired } of outcomes) {
    if (fired === null || run.messages + messages >= maxMessages) continue;
    if (await notifyOfItem(context, fired)) messages += 1;
  }
  await store.trackedItems.upsert(outcomes.flatMap(({ items }) => items));

  const counts = { new: 0, changed: 0, missing: 0, back: 0, unchanged: 0 };
  for (const [index, { item, batch }] of fresh.entries()) {
    const type = outcomes[index]!.change?.type ?? known.get(changeId(run.jobId, batch, item)) ?? 'unchanged';
    counts[type] += 1;
  }
  return { counts, messages };
}

/**
 * Computes what a reading leads to, from the item's states for all jobs (`own`) and in the run's series
 * (`member`).
 */
function outcomeOf(
  run: TrackingRun,
  rules: readonly Rule[],
  snapshot: Snapshot,
  own: TrackedItem | undefined,
  member: TrackedItem | undefined,
): Outcome {
  const outcome: Outcome = { items: [], added: null, change: null, fired: null };
  const { item, at, readAt, batch } = snapshot;
  if (isOpen(own, run, at)) {
    const difference = differenceOf(own, snapshot);
    const { isChanged, state } = nextState(run, '', snapshot, own, difference);
    const evaluated = evaluateRules(run, rules, snapshot, own, difference);
    outcome.items.push({ ...state, rules: evaluated.states });
    outcome.fired = evaluated.fired;
    if (isChanged) {
      const previous = own ? { at: own.changedAt, jobId: own.changedJob } : null;
      const { changed } = difference;
      const observation = {
        ...item,
        at: readAt,
        jobId: run.jobId,
        values: difference.values,
        changed,
        endedAt: null,
      };
      outcome.added = { observation, previous };
    }
  }
  if (isOpen(member, run, at)) {
    const difference = differenceOf(member, snapshot);
    if (run.series !== '') outcome.items.push(nextState(run, run.series, snapshot, member, difference).state);
    const type = changeType(member, difference);
    if (type !== null) {
      const { before, after } = difference;
      const id = changeId(run.jobId, batch, item);
      const title = difference.values.title;
      outcome.change = { id, ...item, jobId: run.jobId, type, at: readAt, title, before, after };
    }
  }
  return outcome;
}

/**
 * Compares a reading with the state. A reading before the last change, and a reused record that was read
 * before the item was last found, have no news: the item is present, with the values of the state.
 */
function differenceOf(last: TrackedItem | undefined, { values, readAt, isReused }: Snapshot): Difference {
  const isOutdated = last !== undefined && (readAt < last.changedAt || (isReused && readAt <= last.seenAt));
  return compare(last?.values ?? null, isOutdated ? last.values : values);
}

/** Returns true if a reading is later than the stored one, and not stored itself. */
function isOpen(state: TrackedItem | undefined, { jobId }: TrackingRun, at: number): boolean {
  if (state === undefined) return true;
  return state.seenAt < at || (state.seenAt === at && state.seenJob < jobId);
}

function changeType(member: TrackedItem | undefined, { changed }: Difference): ItemChange['type'] | null {
  if (member === undefined) return 'new';
  if (!member.isPresent) return 'back';
  return changed.length > 0 ? 'changed' : null;
}

function nextState(
  run: TrackingRun,
  series: string,
  { item, source, batch, at, readAt }: Snapshot,
  last: TrackedItem | undefined,
  { values, changed }: Difference,
): { state: TrackedItem; isChanged: boolean } {
  const isChanged = last === undefined || changed.length > 0;
  const state: TrackedItem = {
    id: trackedItemId(item, series),
    ...item,
    series,
    source,
    values,
    isPresent: true,
    firstAt: last?.firstAt ?? readAt,
    changedAt: isChanged ? readAt : last.changedAt,
    changedJob: isChanged ? run.jobId : last.changedJob,
    seenAt: at,
    seenJob: run.jobId,
    seenBatch: batch,
    rules: {},
  };
  return { state, isChanged };
}

/**
 * Evaluates the user's rules. Keeps the states of rules out of scope, and drops the states of deleted rules.
 */
function evaluateRules(
  run: TrackingRun,
  rules: readonly Rule[],
  { item, readAt: at }: Snapshot,
  own: TrackedItem | undefined,
  { values: after, changed }: Difference,
): { states: Record<string, RuleState>; fired: FiredItem | null } {
  const states: Record<string, RuleState> = {};
  const before = own?.values ?? null;
  const firing: Rule[] = [];
  for (const rule of rules) {
    const state = own?.rules[rule.id];
    if (isInScope(rule, item, run.series)) {
      const result = evaluate(rule, state, { before, after, changed });
      if (result.state) states[rule.id] = result.state;
      if (result.fires) firing.push(rule);
    } else if (state) states[rule.id] = state;
  }
  if (firing.length === 0) return { states, fired: null };
  return { states, fired: { run, item, rules: firing, before, after, changed, at } };
}
