import { readingsOf } from '../../src/history/readings.ts';
import type { JobContext } from '../../src/jobs/context.ts';
import type { Job } from '../../src/store/documents.ts';
import {
  type ItemChangeType,
  type ItemKey,
  listChanges,
  listObservations,
  type TrackingRun,
} from '../../src/store/history.ts';
import { sourceOf } from '../../src/store/history-ids.ts';
import type { Store } from '../../src/store/store.ts';
import { newTrackingRun } from '../../src/store/tracking-run.ts';
import type { Comparison } from './witness.ts';

/** State of an item in the model, for all jobs of a user or in a series. */
interface ModelItem {
  item: ItemKey;
  price: number;
  isPresent: boolean;
  source: string;
  changedAt: number;
  seenAt: number;
  seenJob: string;
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
const textOf = ({ userId, market, region, key }: ItemKey) => [userId, market, region, key].join('/');
const isBefore = ({ run: one }: TrackedJob, { run: other }: TrackedJob) =>
  one.at < other.at || (one.at === other.at && one.jobId < other.jobId);
const lineOf = (at: number, jobId: string, price: number | null) => `${price} at ${at} by ${jobId}`;
const isLater = (at: number, jobId: string, { seenAt, seenJob }: ModelItem) =>
  seenAt < at || (seenAt === at && seenJob < jobId);

/**
 * Checks the observations and the changes of all tracked jobs against a model that compares them one after
 * the other, in the order in which their comparisons were done. That is the order in which the jobs of a user
 * ended.
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
    const expected = [...(model.changes.get(job.id) ?? [])].map(([item, type]) => `${type} ${item}`).sort();
    if (stored.join() !== expected.join())
      problems.push(
        `job ${job.id}: its changes are [${stored.join(', ')}], expected [${expected.join(', ')}]`,
      );
    const { unchanged: _, ...counts } = run.counts;
    const total = Object.values(counts).reduce((sum, count) => sum + count, 0);
    if (total !== stored.length) problems.push(`job ${job.id}: ${stored.length} changes, ${total} counted`);
  }
  for (const { item, lines } of model.observations.values())
    problems.push(...(await checkObservations(store, item, lines)));
  return problems;
}

/**
 * Checks that no job was compared before an earlier one of its user, unless the end of that one was not known
 * yet.
 */
function checkOrder(tracked: readonly TrackedJob[], comparisons: ReadonlyMap<string, Comparison>): string[] {
  return tracked.flatMap((later, index) =>
    tracked
      .slice(0, index)
      .filter((first) => first.job.userId === later.job.userId && isBefore(later, first))
      .filter(({ job }) => comparisons.get(later.job.id)!.created < comparisons.get(job.id)!.checked)
      .map(({ job }) => `job ${job.id} was compared before job ${later.job.id}, which ended earlier`),
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
  for (const { job, run } of tracked) await addRun(context, model, states, job, run);
  return model;
}

async function addRun(
  context: JobContext,
  model: Model,
  states: Map<string, ModelItem>,
  job: Job,
  run: TrackingRun,
): Promise<void> {
  const changes = new Map<string, ItemChangeType>();
  model.changes.set(job.id, changes);
  const batches = await Array.fromAsync(context.store.batches.read(job.id));
  const found = new Set<string>();
  for (const batch of batches) {
    const at = Math.min(batch.endedAt ?? run.at, run.at);
    for await (const { reading, region, source, isReused, ...read } of readingsOf(context, job, batch)) {
      const item = { userId: job.userId, market: job.market, region, key: reading.key };
      const text = textOf(item);
      if (found.has(text)) continue;
      const readAt = Math.min(read.readAt ?? at, at);
      /** Adds the reading to a state. Returns the state before, or null if a later reading is stored. */
      const advance = (name: string): { last: ModelItem | undefined; price: number } | null => {
        const last = states.get(`${name} ${text}`);
        if (last && !isLater(at, job.id, last)) return null;
        const isOutdated =
          last !== undefined && (readAt < last.changedAt || (isReused && readAt <= last.seenAt));
        const price = isOutdated ? last.price : reading.price!;
        const changedAt = last?.price === price ? last.changedAt : readAt;
        const seen = { source, seenAt: at, seenJob: job.id };
        states.set(`${name} ${text}`, { item, price, isPresent: true, changedAt, ...seen });
        return { last, price };
      };
      const own = advance('');
      const member = run.series === '' ? own : advance(run.series);
      if (member) found.add(text);
      if (own && own.last?.price !== own.price) {
        const { lines } = model.observations.get(text) ?? { lines: [] as string[] };
        lines.push(lineOf(readAt, job.id, own.price));
        model.observations.set(text, { item, lines });
      }
      if (!member) continue;
      if (member.last === undefined) changes.set(text, 'new');
      else if (!member.last.isPresent) changes.set(text, 'back');
      else if (member.last.price !== member.price) changes.set(text, 'changed');
    }
  }
  if (run.series === '') return;
  const read = new Set(
    batches.flatMap((batch) =>
      batch.units
        .filter((_, index) => {
          const outcome = batch.outcomes[index];
          return outcome?.status === 'SUCCESS' || outcome?.code === 'page_not_found';
        })
        .map(({ key }) => sourceOf(batch.market, batch.region, key)),
    ),
  );
  for (const [name, state] of states) {
    const isCandidate = name.startsWith(`${run.series} `) && state.item.userId === job.userId;
    if (!isCandidate || !state.isPresent || !read.has(state.source)) continue;
    if (state.seenJob === job.id || state.seenAt >= run.at) continue;
    changes.set(textOf(state.item), 'missing');
    states.set(name, { ...state, isPresent: false, seenAt: run.at, seenJob: job.id });
  }
}
