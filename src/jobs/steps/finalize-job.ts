import { holdOf, parseHold } from '../../quality/data-quality.ts';
import { countsOf, hasOutstanding, type OutstandingState } from '../../store/batch-store.ts';
import type { Counts, EndedState, Job, JobHold, JobState } from '../../store/documents.ts';
import { aggregate, endingStates } from '../../store/job-states.ts';
import { discountOf } from '../../store/jobs.ts';
import { removePagePlaces } from '../../store/retention.ts';
import type { JobContext } from '../context.ts';
import { refundJob } from '../credits.ts';
import { type FailedOutcome, rejectedOutcome } from '../indexed-units.ts';
import { keepPagesMs } from '../kept-pages.ts';
import { qualityOf } from '../queries/units.ts';
import { countReused } from '../reuse.ts';
import { removeIfDeleted } from './late-files.ts';
import { failLostRecords, isLoss } from './lost-records.ts';
import { compile, type MergedFile, replaceSegments, resumeMerged } from './merged-file.ts';

/** Fault code of units stopped by a cancellation. */
export const terminatedCode = 'terminated';

/**
 * Ends a running job whose batches are all done. Does nothing if batches are outstanding or another
 * process is ending the job.
 */
export async function finalizeJob(context: JobContext, jobId: string): Promise<void> {
  const { store, clock } = context;
  if (await hasOutstanding(store, jobId)) return;
  const job = await store.jobs.move(jobId, ['processing'], 'settling', clock.now());
  if (job) await finishEnding(context, job);
}

/**
 * Ends a job that is `settling`, `rejecting` or `terminating`: writes the merged file, posts the
 * refund, then sets the terminal state, so that a terminal job always has both. Each step is
 * idempotent; after a crash the sweep repeats them.
 */
export async function finishEnding(context: JobContext, job: Job): Promise<void> {
  const { store, clock, log } = context;
  if (!endingStates.includes(job.state)) return;
  if (job.state === 'rejecting') {
    await failUnits(context, job, ['waiting'], rejectedOutcome(job));
  }
  if (await hasOutstanding(store, job.id)) return;

  // The refund follows the file, since units whose records are lost are refunded, too.
  const { counts, reused, merged } = await mergeResults(context, job);
  const { units } = counts;
  const file = merged?.file ?? null;
  const owed = units.failed * job.unitPrice + discountOf(job, reused ?? 0);
  const refunded = await refundJob(store, job, owed, clock.now());
  await replaceSegments(context, job, merged, counts.batches.success).catch((error) => {
    // A job without results has few files to remove, and its refund does not wait for the storage.
    if (units.success > 0) throw error;
  });
  if (job.pagesUntil !== null) await removePagePlaces(store, job.id);
  const end = endOf(job.state, counts, context.jobTypes.of(job).kind.statusFrom);
  const now = clock.now();
  const ended = await store.jobs.move(job.id, [job.state], end, now, {
    refunded,
    file,
    counts: {
      ...counts,
      ...(await countPages(context, job)),
      units: {
        ...units,
        ...(reused === undefined ? {} : { reused }),
        ...(await countNotRun(context, job, units)),
      },
    },
    finishedAt: now,
    ...(job.pagesUntil === null ? {} : { pagesUntil: now + (keepPagesMs(job.options) ?? 0) }),
    hold: await findHold(context, job, units.success, now),
    noticeDue: end,
    noticeAt: now,
  });
  if (ended)
    log.info(
      {
        jobId: job.id,
        state: end,
        units,
        refunded,
        file: file?.path,
      },
      'job ended',
    );
  else await removeIfDeleted(context, job.id);
}

/** Results of an ending job. */
interface JobResults {
  counts: Counts;
  /** Units with the result of an earlier job. Undefined if the job reuses none. */
  reused: number | undefined;
}

async function countResults({ store }: JobContext, job: Job): Promise<JobResults> {
  const counts = await countsOf(store, job.id);
  const { reused } = await countReused(store, job);
  return { counts, reused };
}

/**
 * Counts the results of a job, and writes its merged file: without the records that the result
 * storage has lost for good.
 */
async function mergeResults(
  context: JobContext,
  job: Job,
): Promise<JobResults & { merged: MergedFile | null }> {
  const results = await countResults(context, job);
  try {
    const merged = await mergedFileOf(context, job, results.counts.units.success);
    return { ...results, merged };
  } catch (error) {
    if (!isLoss(error) || (await failLostRecords(context, job)) === 0) throw error;
  }
  const remaining = await countResults(context, job);
  const unmerged = { ...job, file: null };
  const merged = await mergedFileOf(context, unmerged, remaining.counts.units.success);
  return { ...remaining, merged };
}

/**
 * Writes the merged file of a job, and stores it with the job before a batch refers to it: from
 * then on its contents do not change, because batches may have positions in it.
 */
async function mergedFileOf(
  context: JobContext,
  job: Job,
  success: number,
): Promise<MergedFile | null> {
  if (job.file !== null) return resumeMerged(context, job, job.file);
  const merged = await compile(context, job, success);
  if (merged === null) return null;
  const { id, state } = job;
  const stored = await context.store.jobs.update(
    { id, state },
    { file: merged.file },
    { relaxed: true },
  );
  return stored === null ? { ...merged, rows: new Map() } : merged;
}

/**
 * Ends the outstanding units of a job's batches in `states` with a failure, counts them, and
 * returns their number.
 */
export async function failUnits(
  { store, clock, metrics }: JobContext,
  { id, market, kind }: Job,
  states: readonly OutstandingState[],
  outcome: FailedOutcome,
): Promise<number> {
  const failed = await store.batches.fail(id, states, outcome, clock.now());
  if (failed > 0) metrics.add('gleaner_units_total', { market, kind, code: outcome.code }, failed);
  return failed;
}

/**
 * Returns the hold of a job whose records do not meet the option `hold`, or null. A job without
 * results has nothing to hold.
 */
async function findHold(
  context: JobContext,
  job: Job,
  success: number,
  now: number,
): Promise<JobHold | null> {
  const rules = parseHold(job.options.hold ?? '');
  if (rules.length === 0 || success === 0) return null;
  return holdOf(rules, await qualityOf(context, job), now);
}

/** Counts the kept pages of a job. Empty for a job that keeps none. */
async function countPages(
  { store }: JobContext,
  { id, pagesUntil }: Job,
): Promise<Pick<Counts, 'pages'>> {
  if (pagesUntil === null) return {};
  const total = { kept: 0, missed: 0, bytes: 0 };
  for await (const { pages } of store.batches.read(id)) {
    if (!pages) continue;
    total.kept += pages.kept;
    total.missed += pages.missed;
    total.bytes += pages.bytes;
  }
  return { pages: total };
}

/** Counts the units stopped by a rejection or a cancellation. Empty for other jobs. */
async function countNotRun(
  { store }: JobContext,
  job: Job,
  units: Counts['units'],
): Promise<Pick<Counts['units'], 'notRun'>> {
  if (job.state === 'rejecting') return { notRun: units.failed };
  if (job.state !== 'terminating') return {};
  const batches = (await store.batches.find({ jobId: job.id })).filter(({ failed }) => failed > 0);
  let notRun = 0;
  for await (const { outcomes } of store.batches.read(job.id, {
    seqs: batches.map(({ seq }) => seq),
  })) {
    for (const outcome of Object.values(outcomes))
      if (outcome.status === 'FAILED' && outcome.code === terminatedCode) notRun += 1;
  }
  return { notRun };
}

function endOf(state: JobState, counts: Counts, statusFrom: 'units' | 'batches'): EndedState {
  if (state === 'rejecting') return 'rejected';
  // A cancellation after the last unit succeeded changes nothing.
  const stopped = state === 'terminating' && counts.units.failed > 0;
  if (stopped) return 'terminated';
  return aggregate(counts[statusFrom].success, counts[statusFrom].failed);
}
