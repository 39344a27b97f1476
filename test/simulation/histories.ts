import { readingsOf } from '../../src/history/readings.ts';
import type { JobContext } from '../../src/jobs/context.ts';
import type { Batch } from '../../src/store/batches.ts';
import type { Job } from '../../src/store/documents.ts';
import {
  type ItemChangeType,
  type ItemKey,
  listChanges,
  listObservations,
  type TrackingRun,
} from '../../src/store/history.ts';
import type { Store } from '../../src/store/store.ts';
import { newTrackingRun } from '../../src/store/tracking-run.ts';
import type { Comparison } from './witness.ts';

/** State of an item in the model, for all jobs of a user or in a series. */
interface ModelItem {
  item: ItemKey;
  price: number;
  /** Time of the reading that the price is from. */
  readAt: number;
  isPresent: boolean;
  /**
   * Times at which units listed the item in the latest run that found it, or at which they did not
   * any more.
   */
  units: Map<string, number>;
  /** Units that listed the item before, and that this run could not read. */
  unread: readonly string[];
  foundJob: string;
}

/** A job and its comparison, which is done. */
interface TrackedJob {
  job: Job;
  run: TrackingRun;
}

/** Histories as the documentation describes them, computed from the records of the jobs. */
interface Model {
  /** Lines of the observations by item. */
  observations: Map<string, { item: ItemKey; lines: string[] }>;
  /** Changes by job and item. */
  changes: Map<string, Map<string, ItemChangeType>>;
}

const all = { limit: 10_000 };
const textOf = ({ userId, market, region, key }: ItemKey) =>
  [userId, market, region, key].join('/');
const isBefore = ({ run: one }: TrackedJob, { run: other }: TrackedJob) =>
  one.at < other.at || (one.at === other.at && one.jobId < other.jobId);
const lineOf = (at: number, jobId: string, price: number | null) => `${price} at ${at} by ${jobId}`;

/**
 * Checks the observations and the changes of all tracked jobs against a model that compares them
 * one after the other, in the order in which their comparisons were done. That is the order in
 * which the jobs of a user ended.
 */
export async function checkHistories(
  context: JobContext,
  comparisons: ReadonlyMap<string, Comparison>,
  jobs: readonly Job[],
): Promise<string[]> {
  const { store } = context;
  const problems: string[] = [];
  const tracked: TrackedJob[] = [];
  for (const job of jobs) {
    if (newTrackingRun(job) === null) continue;
    const run = await store.trackingRuns.get(job.id);
    if (run?.stage === 'done') tracked.push({ job, run });
    else problems.push(`job ${job.id}: its records were not compared`);
  }
  const doneAt = ({ job }: TrackedJob) => comparisons.get(job.id)!.done;
  tracked.sort((one, other) => doneAt(one) - doneAt(other));
  problems.push(...checkOrder(tracked, comparisons));
  const model = await modelOf(context, tracked);
  for (const { job, run } of tracked) {
    const { items } = await listChanges(store, job.id, null, all);
    const stored = items.map((change) => `${change.type} ${textOf(change)}`).sort();
    const expected = [...(model.changes.get(job.id) ?? [])]
      .map(([item, type]) => `${type} ${item}`)
      .sort();
    if (stored.join() !== expected.join())
      problems.push(
        `job ${job.id}: its changes are [${stored.join(', ')}], expected [${expected.join(', ')}]`,
      );
    const { unchanged: _, ...counts } = run.counts;
    const total = Object.values(counts).reduce((sum, count) => sum + count, 0);
    if (total !== stored.length)
      problems.push(`job ${job.id}: ${stored.length} changes, ${total} counted`);
  }
  for (const { item, lines } of model.observations.values())
    problems.push(...(await checkObservations(store, item, lines)));
  return problems;
}

/**
 * Checks that no job was compared before an earlier one of its user, unless the end of that one was
 * not known yet.
 */
function checkOrder(
  tracked: readonly TrackedJob[],
  comparisons: ReadonlyMap<string, Comparison>,
): string[] {
  return tracked.flatMap((later, index) =>
    tracked
      .slice(0, index)
      .filter((first) => first.job.userId === later.job.userId && isBefore(later, first))
      .filter(
        ({ job }) => comparisons.get(later.job.id)!.created < comparisons.get(job.id)!.checked,
      )
      .map(
        ({ job }) => `job ${job.id} was compared before job ${later.job.id}, which ended earlier`,
      ),
  );
}

async function checkObservations(
  store: Store,
  item: ItemKey,
  expected: readonly string[],
): Promise<string[]> {
  const { items } = await listObservations(store, item, 0, Number.MAX_SAFE_INTEGER, all);
  const stored = items.reverse();
  const lines = stored.map(({ at, jobId, values }) => lineOf(at, jobId, values.price));
  const problems: string[] = [];
  if (lines.join() !== expected.join())
    problems.push(`${textOf(item)} was [${lines.join(', ')}], expected [${expected.join(', ')}]`);
  for (const [index, { endedAt }] of stored.entries()) {
    const next = stored[index + 1]?.at ?? null;
    if (endedAt !== next)
      problems.push(`${textOf(item)}: an observation ends at ${endedAt}, the next is of ${next}`);
  }
  return problems;
}

/** Compares the jobs in this order. */
async function modelOf(context: JobContext, tracked: readonly TrackedJob[]): Promise<Model> {
  const model: Model = { observations: new Map(), changes: new Map() };
  const states = new Map<string, ModelItem>();
  for (const [index, { job, run }] of tracked.entries()) {
    const isOfSeries = (other: TrackedJob) =>
      other.run.userId === run.userId && other.run.series === run.series;
    const isLate =
      run.series !== '' &&
      tracked.slice(0, index).some((other) => isOfSeries(other) && isBefore({ job, run }, other));
    await addRun(context, { model, states, isLate }, job, run);
  }
  return model;
}

/** Times at which a job read its units. Null for a unit that could not be read. */
function unitReadings(batches: readonly Batch[], job: Job): Map<string, number | null> {
  const readings = new Map<string, number | null>();
  for (const { region, units, outcomes } of batches)
    for (const [index, { key }] of units.entries()) {
      const outcome = outcomes[index];
      const isGone = outcome?.status === 'FAILED' && outcome.code === 'page_not_found';
      const startedAt = job.startedAt ?? job.createdAt;
      const read = outcome?.status === 'SUCCESS' ? outcome.readAt : null;
      const unit = `${region} ${key}`;
      const times = [read, isGone ? startedAt : null, readings.get(unit) ?? null].filter(
        (at) => at !== null,
      );
      readings.set(unit, times.length === 0 ? null : Math.max(...times));
    }
  return readings;
}

interface AddedRun {
  model: Model;
  states: Map<string, ModelItem>;
  /** True if a run of the series that ended later was compared before. */
  isLate: boolean;
}

async function addRun(
  context: JobContext,
  { model, states, isLate }: AddedRun,
  job: Job,
  run: TrackingRun,
): Promise<void> {
  const changes = new Map<string, ItemChangeType>();
  model.changes.set(job.id, changes);
  const batches = await Array.fromAsync(context.store.batches.read(job.id));
  const readings = unitReadings(batches, job);
  const found = new Set<string>();
  for (const batch of batches) {
    const at = Math.min(batch.endedAt ?? run.at, run.at);
    for await (const { reading, region, unitKey, isReused, ...read } of readingsOf(
      context,
      job,
      batch,
    )) {
      const item = { userId: job.userId, market: job.market, region, key: reading.key };
      const text = textOf(item);
      const readAt = Math.min(read.readAt, at);
      const unit = `${batch.region} ${unitKey}`;
      const memberName = `${run.series} ${text}`;
      if (found.has(text)) {
        if (run.series === '' || isLate) continue;
        const member = states.get(memberName)!;
        if (member.isPresent && !member.units.has(unit)) member.units.set(unit, readAt);
        continue;
      }
      found.add(text);
      /** Adds the reading to a state. Returns the price before; undefined for a new item. */
      const advance = (name: string): number | undefined => {
        const last = states.get(name);
        const isNews = last === undefined || readAt > last.readAt;
        const listed = last?.isPresent ? [...last.units.keys(), ...last.unread] : [];
        states.set(name, {
          item,
          price: isNews ? reading.price! : last.price,
          readAt: Math.max(readAt, last?.readAt ?? readAt),
          isPresent: true,
          units: new Map([[unit, readAt]]),
          unread: listed.filter((other) => other !== unit && readings.get(other) === null),
          foundJob: job.id,
        });
        return last?.price;
      };
      const before = advance(` ${text}`);
      const { price } = states.get(` ${text}`)!;
      if (before !== price) {
        const { lines } = model.observations.get(text) ?? { lines: [] as string[] };
        lines.push(lineOf(readAt, job.id, price));
        model.observations.set(text, { item, lines });
      }
      if (run.series === '') {
        if (before === undefined) changes.set(text, 'new');
        else if (before !== price) changes.set(text, 'changed');
      }
      if (run.series === '' || isLate) continue;
      const member = states.get(memberName);
      const last = member && { ...member };
      advance(memberName);
      const next = states.get(memberName)!;
      const absentAt = last?.isPresent === false ? last.units.get(unit) : undefined;
      if (last && absentAt !== undefined && !isReused && readAt <= absentAt) {
        states.set(memberName, { ...next, isPresent: false, units: last.units, unread: [] });
      } else if (last === undefined) changes.set(text, 'new');
      else if (!last.isPresent) changes.set(text, 'back');
      else if (last.price !== next.price) changes.set(text, 'changed');
    }
  }
  if (run.series === '' || isLate) return;
  for (const [name, state] of states) {
    const isCandidate = name.startsWith(`${run.series} `) && state.item.userId === job.userId;
    if (!isCandidate || !state.isPresent || state.foundJob === job.id) continue;
    const listing = [...state.units].filter(([unit]) => readings.has(unit));
    const mayListIt = ([unit, listedAt]: [string, number]) => {
      const readAt = readings.get(unit);
      return readAt === null || readAt === undefined || readAt <= listedAt;
    };
    if (listing.length === 0 || listing.some(mayListIt)) continue;
    if (state.unread.some((unit) => readings.get(unit) === null)) continue;
    changes.set(textOf(state.item), 'missing');
    const units = new Map(listing.map(([unit]) => [unit, readings.get(unit)!]));
    states.set(name, { ...state, isPresent: false, units, unread: [] });
  }
}
