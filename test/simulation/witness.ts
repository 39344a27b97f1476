import type { Batch, BatchKey, Outcome } from '../../src/store/batches.ts';
import type { TrackingRun } from '../../src/store/history.ts';
import type { PostingResult } from '../../src/store/ledger.ts';
import type { Store } from '../../src/store/store.ts';
import { createFeedReaders, type FeedReaders } from './feeds.ts';
import type { CallObserver, Process } from './process.ts';
import type { World } from './world.ts';

/** Observes every call that takes effect in the store. */
export interface Witness {
  observe: CallObserver;
  /** Order of the comparisons, by job. */
  comparisons: ReadonlyMap<string, Comparison>;
  /** Readers of the change feeds. Each reads on whenever a comparison ends. */
  feeds: FeedReaders;
  /** Compares the outcomes of every batch with those observed before. */
  checkOutcomes(): Promise<void>;
}

/** Simulation steps at which a job's comparison was created, became the next one, and was done. */
export interface Comparison {
  created: number;
  checked: number;
  done: number;
}

/** Writes that fail after a claim was lost. */
const fenced = new Set(['batches.update', 'batches.recordOutcomes']);

/** Returns true if the conditions select the runs that a run waits for. */
const isForEarlierRuns = (where: unknown): boolean =>
  (where as { queueState?: { in: readonly string[] } }).queueState?.in.includes('waiting') === true;

/** Creates the witness of a run. It reads `store` without simulated faults. */
export function createWitness(world: World, store: Store): Witness {
  const { seen, problems } = world;
  const outcomes = new Map<string, string>();
  const claimedJobs = new Set<string>();
  /** Times of the claims of batches. */
  const claimedAt = new Map<string, number>();
  const posted = new Set<string>();

  const compare = async (jobId: string) => {
    for await (const batch of store.batches.read(jobId)) {
      for (const [index, outcome] of Object.entries(batch.outcomes))
        compareUnit(batch, index, outcome);
    }
  };
  const compareUnit = ({ id, jobId }: Batch, index: string, outcome: Outcome) => {
    const place = `${id} ${index}`;
    const text = JSON.stringify(outcome);
    const before = outcomes.get(place);
    if (before !== undefined && before !== text)
      problems.push(`job ${jobId}: unit ${place} ended as ${before}, then as ${text}`);
    outcomes.set(place, text);
  };

  const observeFenced = (
    process: Process,
    name: string,
    [first, second]: unknown[],
    result: unknown,
  ) => {
    if (result) return;
    seen.add('lost claim');
    const isRenewal = name === 'batches.update' && (second as Partial<Batch>).state === undefined;
    const claimed = claimedAt.get(`${process.name} ${(first as BatchKey).id}`);
    const { frozenAt } = process;
    if (!isRenewal && claimed !== undefined && frozenAt !== null && frozenAt >= claimed)
      seen.add('frozen writer rejected');
  };

  const comparisons = new Map<string, Comparison>();
  const feeds = createFeedReaders(store);
  const observeComparison = async (name: string, [first, second]: unknown[], result: unknown) => {
    const step = world.scheduler.steps;
    const { jobId } = first as TrackingRun;
    if (name === 'trackingRuns.insert' && result)
      comparisons.set(jobId, { created: step, checked: 0, done: 0 });
    // The last query for an earlier run that waits or is active, which finds none.
    if (
      name === 'trackingRuns.find' &&
      isForEarlierRuns(first) &&
      (result as unknown[]).length === 0
    ) {
      const { after } = second as { after: [at: number, jobId: string] };
      comparisons.get(after[1])!.checked = step;
    }
    if (
      name === 'trackingRuns.update' &&
      result &&
      (second as Partial<TrackingRun>).stage === 'done'
    ) {
      comparisons.get(jobId)!.done = step;
      await feeds.read((result as TrackingRun).userId);
    }
  };

  const observe: CallObserver = async (process, name, parameters, result) => {
    const [first] = parameters;
    if (name === 'batches.claim' && result !== null) {
      const { id, jobId } = result as Batch;
      claimedJobs.add(jobId);
      claimedAt.set(`${process.name} ${id}`, world.scheduler.now());
    }
    if (name.startsWith('trackingRuns.')) await observeComparison(name, parameters, result);
    if (fenced.has(name)) observeFenced(process, name, parameters, result);
    if (name === 'batches.requeueStalled' && (result as unknown[]).length > 0)
      seen.add('republished batch');
    if (name === 'jobs.move' && result !== null && process.name.startsWith('sweep')) {
      if ((parameters[1] as string[]).includes('submitted')) seen.add('resumed submit');
    }
    if (name === 'ledger.repair' && (result as number) > 0) seen.add('repaired posting');
    if (name === 'ledger.post' && (result as PostingResult).posted) {
      const { key } = parameters[0] as { key: string };
      // Posted again by a process that did not see the first posting.
      if (posted.has(key)) seen.add('repaired posting');
      posted.add(key);
    }
    if (name === 'batches.fail') await compare(first as string);
    if (name === 'batches.recordOutcomes') await compare((first as BatchKey).jobId);
  };

  return {
    observe,
    comparisons,
    feeds,
    async checkOutcomes() {
      for (const jobId of claimedJobs) await compare(jobId);
    },
  };
}
