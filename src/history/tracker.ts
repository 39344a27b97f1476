import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { processDue, repeat } from '../base/due-work.ts';
import { Fault } from '../contract/fault.ts';
import type { JobContext } from '../jobs/context.ts';
import type { Batch, BatchSummary } from '../store/batches.ts';
import type { Job } from '../store/documents.ts';
import { countChanges, type Rule, type TrackingRun } from '../store/history.ts';
import { seriesUnit } from '../store/history-ids.ts';
import {
  beginRun,
  isLate,
  nextDoneAt,
  skipRun,
  waitOf,
  wakeNext,
  writeProgress,
} from '../store/tracking-run.ts';
import { applySnapshots, type Comparison } from './apply-snapshots.ts';
import type { Snapshot } from './compare-item.ts';
import { tellOperators } from './failed-comparison.ts';
import { readingsOf } from './readings.ts';
import { recordMissing } from './record-missing.ts';
import { createJobUnits, type JobUnits } from './unit-readings.ts';

/** Interval between polls for due runs. */
export const trackMs = 1_000;

/** Lease on a run, renewed with each batch: longer than the records of a batch take. */
const leaseMs = 60_000;
/** Maximum time for one run before others get their turn. */
const maxTurnMs = 5_000;
/** Delay before a run that failed is tried again. */
const retryMs = 30_000;
/**
 * Delay before a run that waits checks its turn again. The end of the run before makes it due at
 * once, unless the process crashes between the two.
 */
const waitMs = 10_000;
/**
 * Maximum age of a run whose records cannot be read. The run then ends without them, so that it
 * does not block later runs of its series.
 */
const giveUpMs = 24 * 3_600_000;
/** Runs claimed at once, and compared at the same time, each of another user. */
const claimSize = 4;
/** Items compared per batch. */
const chunkSize = 200;

/**
 * Compares the jobs that are due. A run advances batch by batch; its progress is written after the
 * batch, by the holder of the claim, and every write before is idempotent, so that a crash repeats
 * a batch without a trace. Returns true if a run was due. Throws `unavailable` while the store is
 * unreachable.
 */
export async function track(context: JobContext, signal: AbortSignal): Promise<boolean> {
  const { store, clock } = context;
  const now = clock.steady();
  const round: Round = { context, signal, nextTurn: createSharedYield() };
  const runs = {
    claim: (limit: number) => store.trackingRuns.claimDue(now, now + leaseMs, limit),
    claimSize,
    concurrency: claimSize,
    maxMs: 0,
    process: (run: TrackingRun) => advance(round, run),
    onError: (run: TrackingRun, error: unknown) => retryLater(context, run, error),
  };
  return (await processDue(runs, clock, signal)) > 0 && !signal.aborted;
}

/**
 * Makes a run that failed due again, or gives it up. Throws `unavailable` while the store is
 * unreachable.
 */
async function retryLater(context: JobContext, run: TrackingRun, error: unknown): Promise<void> {
  const { store, clock, log } = context;
  const { code, component } = Fault.from(error);
  const isFile = component === 'file store';
  if (code === 'unavailable' && !isFile) throw error;
  log.error({ jobId: run.jobId, stage: run.stage, err: error }, 'comparison failed');
  // One file may be unreadable for good, but no run is given up during an outage of the result
  // storage.
  const isOutage = isFile && !(await responds(context));
  const isLost = !isOutage && clock.now() - run.at > giveUpMs;
  if (isLost) {
    await skipRun(store, run.jobId, clock.steady());
    return;
  }
  const failedAt = run.failedAt ?? clock.now();
  const failed = await save(context, run, {
    queueState: 'failed',
    failedAt,
    dueAt: clock.steady() + retryMs,
  });
  if (failed === null) return;
  await wakeNext(store, run.userId, clock.steady());
  await tellOperators(context, failed, Fault.from(error));
}

/** Returns true if the result storage responds. */
const responds = ({ blobs }: JobContext): Promise<boolean> =>
  blobs.ping().then(
    () => true,
    () => false,
  );

/**
 * Compares jobs every `intervalMs`, and without a pause while runs are due, until the signal is
 * aborted.
 */
export async function trackForever(
  context: JobContext,
  intervalMs: number,
  signal: AbortSignal,
): Promise<void> {
  const onError = (error: unknown) =>
    context.log.warn(
      { step: 'history', error: Fault.from(error).message },
      'comparison interrupted',
    );
  await repeat(() => track(context, signal), { ...context, intervalMs, onError }, signal);
}

/** Context of runs that are compared at the same time. */
interface Round {
  context: JobContext;
  signal: AbortSignal;
  /** Resolves when the event loop has processed other work since the last batch of any run. */
  nextTurn(): Promise<void>;
}

/**
 * Returns a function that resolves in a later turn of the event loop, for one caller in each. The
 * embedded store resolves without I/O, so that several batches in a turn would delay other calls.
 */
function createSharedYield(): () => Promise<void> {
  let last: Promise<void> = Promise.resolve();
  return () => {
    last = last.then(() => yieldToEventLoop());
    return last;
  };
}

/** Advances a run until it is done, its time slice ends, or the signal is aborted. */
async function advance(round: Round, claimed: TrackingRun): Promise<void> {
  const { context } = round;
  const run = claimed.queueState === 'active' ? claimed : await begin(context, claimed);
  if (run === null) return;
  if (run.isSkipped) return finish(context, run);
  const job = await context.store.jobs.get(run.jobId);
  // Without its files, nothing is left to compare.
  if (job === null || job.filesDeletedAt !== null)
    return finish(context, { ...run, isSkipped: true });
  const turn = await openTurn(round, run, job);
  let next = run;
  if (next.stage === 'items') {
    const compared = await advanceStage(turn, next, compareBatch);
    if (compared === null) return;
    if (turn.isLate || compared.series === '') return finish(context, compared);
    const begun = {
      stage: 'missing',
      nextBatch: 0,
      dueAt: context.clock.steady() + leaseMs,
    } as const;
    const saved = await save(context, compared, begun);
    if (saved === null) return;
    next = saved;
  }
  const ended = await advanceStage(turn, next, recordMissingItems);
  if (ended !== null) await finish(context, ended);
}

/**
 * Makes a run the active one of its user. Returns null, and makes it due later, if it has to wait.
 */
async function begin(context: JobContext, run: TrackingRun): Promise<TrackingRun | null> {
  const { store, clock } = context;
  const wait = await waitOf(store, run);
  if (wait === null && (await beginRun(store, run))) return { ...run, queueState: 'active' };
  // A run that waits for a failed one of its series does not block runs of other series.
  const queueState = wait === 'failed_run' ? 'behind' : run.queueState;
  await save(context, run, { queueState, dueAt: clock.steady() + waitMs });
  return null;
}

/** Context of the comparison of a run's batches, until its turn ends. */
interface Turn extends Pick<Round, 'context' | 'nextTurn'> {
  job: Job;
  rules: readonly Rule[];
  isLate: boolean;
  units: JobUnits;
  isOver(): boolean;
}

async function openTurn(round: Round, run: TrackingRun, job: Job): Promise<Turn> {
  const { context, signal, nextTurn } = round;
  const { store, clock } = context;
  const until = clock.steady() + maxTurnMs;
  return {
    context,
    nextTurn,
    job,
    rules: (await store.rules.find({ userId: run.userId })).filter(({ enabled }) => enabled),
    isLate: await isLate(store, run),
    units: createJobUnits(store, job, run.series),
    isOver: () => signal.aborted || clock.steady() >= until,
  };
}

/** Progress of a run that a batch makes. */
type Progress = Pick<TrackingRun, 'counts' | 'messages'>;

/**
 * Advances the stage of a run, and writes its progress after each batch. Returns null if the turn
 * is over or the claim was lost.
 */
async function advanceStage(
  turn: Turn,
  begun: TrackingRun,
  process: (turn: Turn, run: TrackingRun, batch: Batch) => Promise<Progress>,
): Promise<TrackingRun | null> {
  const { context, job, nextTurn } = turn;
  const { store, clock } = context;
  let run = begun;
  for await (const batch of store.batches.read(job.id, { seqs: await batchesOf(context, run) })) {
    const progress = await process(turn, run, batch);
    const isOver = turn.isOver();
    const dueAt = isOver ? clock.steady() : clock.steady() + leaseMs;
    const change = {
      ...progress,
      nextBatch: batch.seq + 1,
      failedAt: null,
      dueAt,
    };
    const next = await save(context, run, change);
    if (next === null || isOver) return null;
    run = next;
    await nextTurn();
  }
  return run;
}

/** Returns the sequence numbers of the batches that are left in a run's stage. */
async function batchesOf({ store }: JobContext, { jobId, stage, nextBatch }: TrackingRun) {
  const isWanted = ({ seq, success }: BatchSummary) =>
    seq >= nextBatch && (stage === 'missing' || success > 0);
  return (await store.batches.find({ jobId })).filter(isWanted).map(({ seq }) => seq);
}

async function compareBatch(turn: Turn, run: TrackingRun, batch: Batch): Promise<Progress> {
  const { context, job, rules, isLate: late, units } = turn;
  const counts = { ...run.counts };
  let { messages } = run;
  const add = async (snapshots: readonly Snapshot[]) => {
    const unreadUnits = () => units.unread();
    const comparison: Comparison = {
      run: { ...run, messages },
      isLate: late,
      rules,
      unreadUnits,
    };
    const added = await applySnapshots(context, comparison, snapshots);
    for (const type of Object.keys(counts) as (keyof typeof counts)[])
      counts[type] += added.counts[type];
    messages += added.messages;
  };
  const at = Math.min(batch.endedAt ?? run.at, run.at);
  let snapshots: Snapshot[] = [];
  for await (const { reading: found, region, unitKey, ...source } of readingsOf(
    context,
    job,
    batch,
  )) {
    const { key, details: _, ...values } = found;
    const item = {
      userId: job.userId,
      market: job.market,
      region,
      key,
    };
    const unit = seriesUnit(run.series, batch, unitKey);
    const readAt = Math.min(source.readAt, at);
    snapshots.push({
      ...source,
      item,
      values,
      unit,
      batch: batch.seq,
      at,
      readAt,
    });
    if (snapshots.length < chunkSize) continue;
    await add(snapshots);
    snapshots = [];
  }
  if (snapshots.length > 0) await add(snapshots);
  return { counts, messages };
}

async function recordMissingItems(
  { context, job, units }: Turn,
  run: TrackingRun,
  batch: Batch,
): Promise<Progress> {
  await recordMissing(context, { run, job, units }, batch);
  return run;
}

/** Writes the progress of a run. Returns null if the claim was lost. */
async function save(
  { store }: JobContext,
  run: TrackingRun,
  change: Partial<TrackingRun>,
): Promise<TrackingRun | null> {
  const next = { ...run, ...change };
  return (await writeProgress(store, next)) ? next : null;
}

/**
 * Ends the active run of a user, later than the one before. Counts the stored changes, because a
 * crash may have repeated a batch.
 */
async function finish(context: JobContext, run: TrackingRun): Promise<void> {
  const { store, clock, log } = context;
  const counts = { ...run.counts, ...(await countChanges(store, run.jobId)) };
  const done = {
    stage: 'done',
    queueState: null,
    dueAt: null,
    doneAt: await nextDoneAt(store, run.userId, clock.now()),
    counts,
  } as const;
  if ((await save(context, run, done)) === null) return;
  const { jobId, series, messages } = run;
  log.info(
    {
      jobId,
      series,
      ...counts,
      messages,
    },
    'changes compared',
  );
  await wakeNext(store, run.userId, clock.steady());
}
