import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { processDue, repeat } from '../base/due-work.ts';
import { Fault } from '../contract/fault.ts';
import type { JobContext } from '../jobs/context.ts';
import type { Batch, BatchSummary } from '../store/batches.ts';
import type { Job } from '../store/documents.ts';
import {
  countChanges,
  findAbsentItems,
  type ItemChange,
  type Rule,
  type TrackedItem,
  type TrackingRun,
} from '../store/history.ts';
import { changeId, sourceOf } from '../store/history-ids.ts';
import { beginRun, hasEarlierRun, writeProgress } from '../store/tracking-run.ts';
import { applySnapshots, type Snapshot } from './apply-snapshots.ts';
import { readingsOf } from './readings.ts';

/** Interval between polls for due runs. */
export const trackMs = 1_000;

/** Lease on a run, renewed with each batch: longer than the records of a batch take. */
const leaseMs = 60_000;
/** Maximum time for one run before others get their turn. */
const maxTurnMs = 5_000;
/** Delay before a run is tried again: after a failure, and while it is not its turn. */
const retryMs = 30_000;
const waitMs = 2_000;
/**
 * Maximum age of a run whose records cannot be read. The run then ends without them, so that it does not
 * block later runs of its series.
 */
const giveUpMs = 24 * 3_600_000;
/** Runs claimed at once. */
const claimSize = 4;
/** Items compared per batch. */
const chunkSize = 200;

/**
 * Compares the jobs that are due. A run advances batch by batch; its progress is written after the batch, by
 * the holder of the claim, and every write before is idempotent, so that a crash repeats a batch without a
 * trace. Returns true if a run was due. Throws `unavailable` while the store is unreachable.
 */
export async function track(context: JobContext, signal: AbortSignal): Promise<boolean> {
  const { store, clock } = context;
  const now = clock.now();
  const runs = {
    claim: (limit: number) => store.trackingRuns.claimDue(now, now + leaseMs, limit),
    claimSize,
    concurrency: 1,
    maxMs: 0,
    process: (run: TrackingRun) => advance(context, run, signal),
    onError: (run: TrackingRun, error: unknown) => retryLater(context, run, error),
  };
  return (await processDue(runs, clock, signal)) > 0 && !signal.aborted;
}

/** Makes a run that failed due again, or gives it up. Throws `unavailable` while the store is unreachable. */
async function retryLater(context: JobContext, run: TrackingRun, error: unknown): Promise<void> {
  const { clock, log } = context;
  const { code, component } = Fault.from(error);
  const isFile = component === 'file store';
  if (code === 'unavailable' && !isFile) throw error;
  log.error({ jobId: run.jobId, stage: run.stage, err: error }, 'comparison failed');
  // One file may be unreadable for good, but no run is given up during an outage of the result storage.
  const isOutage = isFile && !(await responds(context));
  const isLost = !isOutage && clock.now() - run.at > giveUpMs;
  const retry = { turn: 'failed', dueAt: clock.now() + retryMs } as const;
  await (isLost ? finish(context, run) : save(context, run, retry));
}

/** Returns true if the result storage responds. */
const responds = ({ blobs }: JobContext): Promise<boolean> =>
  blobs.ping().then(
    () => true,
    () => false,
  );

/** Compares jobs every `intervalMs`, and without a pause while runs are due, until the signal is aborted. */
export async function trackForever(
  context: JobContext,
  intervalMs: number,
  signal: AbortSignal,
): Promise<void> {
  const onError = (error: unknown) =>
    context.log.warn({ step: 'history', error: Fault.from(error).message }, 'comparison interrupted');
  await repeat(() => track(context, signal), { ...context, intervalMs, onError }, signal);
}

/** Advances a run until it is done, its turn is over, or the signal is aborted. */
async function advance(context: JobContext, claimed: TrackingRun, signal: AbortSignal): Promise<void> {
  const { store, clock } = context;
  const until = clock.now() + maxTurnMs;
  let run = claimed;
  if (run.turn !== 'active') {
    if ((await hasEarlierRun(store, run)) || !(await beginRun(store, run))) {
      await save(context, run, { dueAt: clock.now() + waitMs });
      return;
    }
    run = { ...run, turn: 'active' };
  }
  const job = await store.jobs.get(run.jobId);
  // Without its files, nothing is left to compare.
  if (job === null || job.filesDeletedAt !== null) return finish(context, run);
  const rules = (await store.rules.find({ userId: run.userId })).filter(({ enabled }) => enabled);
  for (const stage of ['items', 'missing'] as const) {
    if (run.stage !== stage) continue;
    for await (const batch of store.batches.read(job.id, { seqs: await batchesOf(context, run) })) {
      const done = await advanceBatch(context, run, job, rules, batch);
      const isOver = signal.aborted || clock.now() >= until;
      const dueAt = isOver ? clock.now() : clock.now() + leaseMs;
      const next = await save(context, { ...run, ...done }, { nextBatch: batch.seq + 1, dueAt });
      if (next === null || isOver) return;
      run = next;
      // The embedded store resolves without I/O.
      await yieldToEventLoop();
    }
    if (stage === 'missing' || run.series === '') return finish(context, run);
    const next = await save(context, run, { stage: 'missing', nextBatch: 0, dueAt: clock.now() + leaseMs });
    if (next === null) return;
    run = next;
  }
}

/** Returns the sequence numbers of the batches that are left in a run's stage. */
async function batchesOf({ store }: JobContext, { jobId, stage, nextBatch }: TrackingRun) {
  const isWanted = ({ seq, success }: BatchSummary) =>
    seq >= nextBatch && (stage === 'missing' || success > 0);
  return (await store.batches.find({ jobId })).filter(isWanted).map(({ seq }) => seq);
}

async function advanceBatch(
  context: JobContext,
  run: TrackingRun,
  job: Job,
  rules: readonly Rule[],
  batch: Batch,
): Promise<Pick<TrackingRun, 'counts' | 'messages'>> {
  if (run.stage === 'missing') {
    await recordMissing(context, run, batch);
    return run;
  }
  const counts = { ...run.counts };
  let { messages } = run;
  const add = async (snapshots: readonly Snapshot[]) => {
    const added = await applySnapshots(context, { ...run, messages }, rules, snapshots);
    for (const type of Object.keys(counts) as (keyof typeof counts)[]) counts[type] += added.counts[type];
    messages += added.messages;
  };
  const at = Math.min(batch.endedAt ?? run.at, run.at);
  let snapshots: Snapshot[] = [];
  for await (const { reading, region, source, ...read } of readingsOf(context, job, batch)) {
    const { key, details: _, ...values } = reading;
    const item = { userId: job.userId, market: job.market, region, key };
    const readAt = Math.min(read.readAt ?? at, at);
    snapshots.push({ item, values, source, batch: batch.seq, at, readAt, isReused: read.isReused });
    if (snapshots.length < chunkSize) continue;
    await add(snapshots);
    snapshots = [];
  }
  if (snapshots.length > 0) await add(snapshots);
  return { counts, messages };
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

/** Ends a run. Counts the stored changes, because a crash may have repeated a batch. */
async function finish(context: JobContext, run: TrackingRun): Promise<void> {
  const { store, clock, log } = context;
  const counts = { ...run.counts, ...(await countChanges(store, run.jobId)) };
  const done = { stage: 'done', turn: null, dueAt: null, doneAt: clock.now(), counts } as const;
  if ((await save(context, run, done)) === null) return;
  const { jobId, series, messages } = run;
  log.info({ jobId, series, ...counts, messages }, 'changes compared');
}

/** Items per query. */
const pageSize = 200;

/** Faults of units whose item is gone from the site. After any other fault nothing is known about it. */
const goneCodes: ReadonlySet<string> = new Set(['page_not_found', 'page_private']);

/**
 * Records the items that earlier runs of the series found through units of this batch, and that this run did
 * not find. Units that failed for another reason than a missing page are left out. Idempotent: a recorded
 * item is not present any more.
 */
async function recordMissing({ store }: JobContext, run: TrackingRun, batch: Batch): Promise<void> {
  const sources = batch.units
    .filter((_, index) => isRead(batch.outcomes[index]))
    .map(({ key }) => sourceOf(batch.market, batch.region, key));
  for (;;) {
    const absent = await findAbsentItems(store, run, sources, pageSize);
    if (absent.length === 0) return;
    await store.itemChanges.writeAll(absent.map((item) => missingChange(run, batch, item)));
    await store.trackedItems.upsert(
      absent.map((item) => ({ ...item, isPresent: false, seenAt: run.at, seenJob: run.jobId })),
    );
    if (absent.length < pageSize) return;
  }
}

function isRead(outcome: Batch['outcomes'][number] | undefined): boolean {
  return outcome?.status === 'SUCCESS' || (outcome !== undefined && goneCodes.has(outcome.code));
}

function missingChange(run: TrackingRun, { seq }: Batch, item: TrackedItem): ItemChange {
  const { userId, market, region, key, values } = item;
  return {
    id: changeId(run.jobId, seq, item),
    ...{ userId, market, region, key },
    jobId: run.jobId,
    type: 'missing',
    at: run.at,
    title: values.title,
    before: {},
    after: {},
  };
}
