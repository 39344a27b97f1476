import { compareFile } from '../../base/recorded-file.ts';
import { Fault } from '../../contract/fault.ts';
import type { FilePack } from '../../kinds/kind.ts';
import { aggregate } from '../../kinds/states.ts';
import { type Batch, hasOutstanding, type OutstandingState } from '../../store/batches.ts';
import { countsOf } from '../../store/counts.ts';
import type { Counts, EndedState, Job, JobHold, JobState, StoredFile } from '../../store/documents.ts';
import { endingStates } from '../../store/job-states.ts';
import { discountOf, removePagePlaces } from '../../store/retention.ts';
import type { JobContext } from '../context.ts';
import { refundJob } from '../credits.ts';
import { type FailedOutcome, rejectedOutcome } from '../indexed-units.ts';
import { keepPagesMs } from '../kept-pages.ts';
import { holdOf, parseHold } from '../quality.ts';
import { prefetch } from '../queries/rows.ts';
import { qualityOf } from '../queries/units.ts';
import { composeRows, noRows, openRecords, readRows } from '../records.ts';
import { countReused } from '../reuse.ts';
import { removeIfDeleted } from './late-files.ts';

/** Fault code of units stopped by a cancellation. */
export const terminatedCode = 'terminated';

/**
 * Ends a running job whose batches are all done. Does nothing if batches are outstanding or another process
 * is ending the job.
 */
export async function finalizeJob(context: JobContext, jobId: string): Promise<void> {
  const { store, clock } = context;
  if (await hasOutstanding(store, jobId)) return;
  const job = await store.jobs.move(jobId, ['processing'], 'settling', clock.now());
  if (job) await finishEnding(context, job);
}

/**
 * Ends a job that is `settling`, `rejecting` or `terminating`: posts the refund, writes the merged file, then
 * sets the terminal state, so that a terminal job always has both. Each step is idempotent; after a crash the
 * sweep repeats them.
 */
export async function finishEnding(context: JobContext, job: Job): Promise<void> {
  const { store, clock, log } = context;
  if (!endingStates.includes(job.state)) return;
  if (job.state === 'rejecting') {
    await failUnits(context, job, ['waiting'], rejectedOutcome(job));
  }
  if (await hasOutstanding(store, job.id)) return;

  const counts = await countsOf(store, job.id);
  const { units } = counts;
  const { reused } = await countReused(store, job);
  const owed = units.failed * job.unitPrice + discountOf(job, reused ?? 0);
  const refunded = await refundJob(store, job, owed, clock.now());
  const file = await compile(context, job, units.success);
  await removeUnreferenced(context, job, file, counts.batches.success).catch((error) => {
    // Without results there is little to remove, and the refund does not wait for the storage.
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
  if (ended) log.info({ jobId: job.id, state: end, units, refunded, file: file?.path }, 'job ended');
  else await removeIfDeleted(context, job.id);
}

/**
 * Ends the outstanding units of a job's batches in `states` with a failure, counts them, and returns their
 * number.
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
 * Returns the hold of a job whose records do not meet the option `hold`, or null. A job without results has
 * nothing to hold.
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
async function countPages({ store }: JobContext, { id, pagesUntil }: Job): Promise<Pick<Counts, 'pages'>> {
  if (pagesUntil === null) return {};
  const pages = { kept: 0, missed: 0, bytes: 0 };
  for await (const { pages: kept } of store.batches.read(id)) {
    pages.kept += kept?.kept ?? 0;
    pages.missed += kept?.missed ?? 0;
    pages.bytes += kept?.bytes ?? 0;
  }
  return { pages };
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
  for await (const { outcomes } of store.batches.read(job.id, { seqs: batches.map(({ seq }) => seq) })) {
    for (const outcome of Object.values(outcomes))
      if (outcome.status === 'FAILED' && outcome.code === terminatedCode) notRun += 1;
  }
  return { notRun };
}

function endOf(state: JobState, counts: Counts, statusFrom: 'units' | 'batches'): EndedState {
  if (state === 'rejecting') return 'rejected';
  // A cancellation after the last unit succeeded changes nothing.
  const stopped = state === 'terminating' && counts.units.failed > 0;
  return stopped ? 'terminated' : aggregate(counts[statusFrom].success, counts[statusFrom].failed);
}

/** Segments that are read while the rows of earlier ones are written, and the maximum bytes of each. */
const maxSegmentsAhead = 3;
const maxAheadBytes = 1024 ** 2;

/** Interval at which a long compilation touches its job, so that the sweep does not start a second one. */
const touchIntervalMs = 10_000;

/**
 * Writes a job's merged file: the head, the rows of the batches' segments in submission order, and the tail.
 * Copies rows byte for byte. Returns null for kinds without a merged file, and for jobs without a row.
 */
export async function compile(context: JobContext, job: Job, success: number): Promise<StoredFile | null> {
  const pack = context.jobTypes.of(job).kind.files.job;
  if (!pack || job.state === 'rejecting' || (success === 0 && !pack.whenAllFailed)) return null;
  const count = { items: 0 };
  const path = `${job.id}/${pack.name(job)}`;
  return context.blobs.write(
    path,
    pack.contentType(job),
    merge(context, pack, job, count),
    () => count.items,
  );
}

/**
 * Writes the merged file of an ended job again. Throws `storage_damaged`, and writes nothing, if the segments
 * no longer result in the recorded contents; `results_deleted` if the files are deleted meanwhile.
 */
export async function compileAgain(context: JobContext, job: Job, file: StoredFile): Promise<void> {
  const pack = context.jobTypes.of(job).kind.files.job;
  if (!pack) throw new Error(`${job.kind} has no merged file`);
  const contents = compareFile(file.path, file, bytesOf(merge(context, pack, job, { items: 0 })));
  await context.blobs.write(file.path, file.contentType, contents, () => file.items);
  if (await removeIfDeleted(context, job.id)) throw new Fault('results_deleted', 'This file was deleted.');
}

async function* bytesOf(chunks: AsyncIterable<string | Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks) yield typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
}

async function* merge(
  context: JobContext,
  pack: FilePack,
  job: Job,
  count: { items: number },
): AsyncGenerator<string | Uint8Array> {
  const { store, clock } = context;
  let touchedAt = clock.now();
  yield pack.head(job);
  const open = (batch: Batch) => rowsOf(context, pack, job, batch);
  for await (const { rows, chunks } of prefetch(store.batches.read(job.id), maxSegmentsAhead, open)) {
    if (endingStates.includes(job.state) && clock.now() - touchedAt > touchIntervalMs) {
      touchedAt = clock.now();
      await store.jobs.move(job.id, [job.state], job.state, touchedAt);
    }
    let isFirst = true;
    for await (const chunk of chunks) {
      if (isFirst && count.items > 0) yield pack.separator;
      isFirst = false;
      yield chunk;
    }
    count.items += rows.items;
  }
  yield pack.tail(job);
}

/** Returns the rows of a batch, and their number once they are read. Those of a small segment are read. */
async function rowsOf(
  context: JobContext,
  pack: FilePack,
  job: Job,
  batch: Batch,
): Promise<{ rows: { items: number }; chunks: AsyncIterable<Uint8Array> | Uint8Array[] }> {
  const segment = batch.segments.find(({ body }) => body !== null);
  if (segment) {
    const chunks = readRows(context, batch, segment);
    return {
      rows: segment.body!,
      chunks: segment.bytes > maxAheadBytes ? chunks : await Array.fromAsync(chunks),
    };
  }
  // Batches ended by a cancellation have no segment with rows.
  const { read } = openRecords(context, batch);
  const rows = noRows();
  return { rows, chunks: composeRows(pack, job, batch, read, rows) };
}

/**
 * Removes the files of a job that neither the job nor its batches refer to: segments of lost claims, segments
 * replaced by a batch's final segment, and unit files of late workers. Every batch must be done. `successful`
 * is the number of batches with a result, each of which has at least one file.
 */
async function removeUnreferenced(
  { store, blobs }: JobContext,
  job: Job,
  merged: StoredFile | null,
  successful: number,
): Promise<void> {
  const paths = await blobs.listJob(job.id);
  if (paths.length <= successful + (merged ? 1 : 0)) return;
  const referenced = new Set([merged?.path]);
  for await (const batch of store.batches.read(job.id))
    for (const { path } of filesOf(batch)) referenced.add(path);
  const unreferenced = paths.filter((path) => !referenced.has(path));
  if (unreferenced.length > 0) await blobs.remove(unreferenced);
}

/** A file that a batch refers to. The type of a segment is not stored, nor the digest of files of pages. */
export type ReferencedFile = Pick<StoredFile, 'path' | 'bytes'> &
  Partial<Pick<StoredFile, 'contentType' | 'sha256'>>;

/** Yields the files that a batch refers to. A segment that is also the batch's file is yielded twice. */
export function* filesOf({ file, segments, pages, outcomes }: Batch): Generator<ReferencedFile> {
  yield* segments;
  yield* pages?.files ?? [];
  if (file) yield file;
  for (const outcome of Object.values(outcomes)) {
    if (outcome.status === 'SUCCESS' && outcome.file) yield outcome.file;
  }
}
