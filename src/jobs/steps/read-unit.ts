import { backOffMs } from '../../base/back-off.ts';
import type { JsonObject } from '../../base/json.ts';
import { Fault } from '../../contract/fault.ts';
import type { FetchPage } from '../../fetch/page.ts';
import { describePauseReason } from '../../fetch/request-outcome.ts';
import type { ReadContext, RecordReader } from '../../markets/market.ts';
import { pageTime } from '../../markets/responses/response.ts';
import { createDriftObserver, type DriftObserver, unwatched } from '../../quality/drift-watcher.ts';
import type { Batch, Outcome } from '../../store/batches.ts';
import type { Job } from '../../store/documents.ts';
import { ownAttribute } from '../../telemetry/attributes.ts';
import { failSpan, inSpan } from '../../telemetry/trace.ts';
import type { JobContext, UnitSession } from '../context.ts';
import { driftPageOf } from '../job-types.ts';
import { capturePages, keepsPages, openKeptSession, type UnitPages } from '../kept-pages.ts';
import { findRecent } from '../reuse.ts';
import { readListing } from './read-listing.ts';
import type { DeferredUnit, UnitResult, UnitTarget } from './unit-result.ts';

/** Attempts of a unit so far, and how long it may be deferred. */
export interface RetryBudget {
  /** Attempts of the unit before this claim of its batch. */
  tries: number;
  /** Time after which the unit fails instead of waiting longer. */
  until: number;
}

/** Maximum wait inside a claim in milliseconds; for a longer one the batch is released. */
export const maxInPlaceWaitMs = 10_000;

/** Maximum attempts at one unit, by the retry rule of the last fault. */
const maxAttempts = { soon: 4, later: 6 };
/** First back-off in milliseconds, doubled by each attempt. */
const firstMs = { soon: 500, later: 2_000 };
const maxMs = 60_000;

/**
 * Maximum characters of a failed unit's message: it may quote the marketplace, and outcomes share a
 * document.
 */
const maxMessageLength = 1_000;

/**
 * Reads one unit and retries it as its faults allow. Rejects only if `signal` aborts or one of the
 * service's own engines (store, blobs, queue) fails. A wait of more than 10 seconds is not slept
 * here: the result is the time of the next attempt, or a failure if that is past the budget.
 */
export async function readUnit(
  context: JobContext,
  job: Job,
  batch: Batch,
  index: number,
  signal: AbortSignal,
  budget: RetryBudget,
): Promise<UnitResult | DeferredUnit> {
  const { clock, metrics } = context;
  const startedAt = clock.steady();
  const attributes = { [ownAttribute.kind]: job.kind, [ownAttribute.index]: index };
  const target = { job, batch, index };
  const result = await inSpan('read unit', { attributes }, async (span) => {
    const unitResult = await readWithRetries(context, target, signal, budget);
    if (!isDeferred(unitResult)) {
      const { outcome } = unitResult;
      if (outcome.status === 'FAILED') failSpan(span, outcome.code);
    }
    return unitResult;
  });
  if (!isDeferred(result))
    metrics.record('gleaner_unit_duration_seconds', clock.steady() - startedAt);
  return result;
}

/** Returns true if a unit was deferred, and has no outcome. */
export function isDeferred(result: UnitResult | DeferredUnit): result is DeferredUnit {
  return 'until' in result;
}

async function readWithRetries(
  context: JobContext,
  target: UnitTarget,
  signal: AbortSignal,
  budget: RetryBudget,
): Promise<UnitResult | DeferredUnit> {
  const { clock, random } = context;
  const { job, batch } = target;
  const observer = observeUnit(context, target);
  for (let attempt = budget.tries; ; ) {
    signal.throwIfAborted();
    const end = await readOnce(context, target, signal, observer);
    if (end.kind === 'read') return end.result;
    const { fault, pages } = end;
    // No request was sent, so this does not count as an attempt.
    const isRequested = fault.code !== 'origin_paused';
    if (isRequested) attempt += 1;
    if (fault.retry === 'never' || (isRequested && attempt >= maxAttempts[fault.retry]))
      return withPages(failed(fault), pages);
    const ms = end.retryMs ?? retryDelayMs(fault, attempt, random());
    if (isRequested && ms <= maxInPlaceWaitMs) {
      await clock.sleep(ms, signal);
      continue;
    }
    const until = clock.steady() + ms;
    if (until > budget.until) return withPages(failed(fault, waitExceeded), pages);
    return { until, reason: reasonOf(job, batch, fault), tries: attempt };
  }
}

/**
 * Returns the observer of a unit's pages. Pages of the sandbox are not watched, and kept pages were
 * when they were fetched.
 */
export function observeUnit(context: JobContext, { job, batch, index }: UnitTarget): DriftObserver {
  if (job.mode === 'test' || job.rereadOf !== null) return unwatched;
  const { market, region, units } = batch;
  const page = driftPageOf(context.jobTypes.of(job), region);
  return createDriftObserver(context, market, page, { region, input: units[index]!.input });
}

/** Result of one attempt at a unit. */
type AttemptResult =
  | { kind: 'read'; result: UnitResult }
  | {
      kind: 'fault';
      fault: Fault;
      /** Pages of the attempt, if they are kept. */
      pages: UnitPages | undefined;
      /** Delay before the next attempt that its session requires, in milliseconds. */
      retryMs: number | undefined;
    };

/** Attempts to read a unit in a session. Rejects as readUnit() does. */
async function readOnce(
  context: JobContext,
  target: UnitTarget,
  signal: AbortSignal,
  observer: DriftObserver,
): Promise<AttemptResult> {
  const { job, batch, index } = target;
  const session =
    job.rereadOf === null
      ? openSession(context, target, signal)
      : await openKeptSession(context, job, batch, index);
  const capture = keepsPages(job) ? capturePages(session.fetch) : null;
  const pages = capture?.captured;
  let fault: Fault;
  try {
    const guarded = guardedFetch(context, capture?.fetch ?? session.fetch, batch, index);
    const { fetch, readAt } = datedFetch(context, guarded, session.readAt);
    const readContext = { region: batch.region, fetch, readAt, keptAt: session.readAt };
    const result = await readPages(context, target, readContext, observer);
    await session.end(null);
    return { kind: 'read', result: withPages(result, pages) };
  } catch (error) {
    fault = signal.aborted ? new Fault('unavailable', 'reading stopped') : Fault.from(error);
  }
  if (fault.isOutage) {
    await session.end(fault);
    signal.throwIfAborted();
    throw fault;
  }
  if (fault.code === 'internal') {
    const fields = {
      jobId: job.id,
      batchId: batch.id,
      index,
      error: fault.stack,
    };
    context.log.error(fields, 'reader failed');
  }
  await session.end(fault);
  observer.fault(fault);
  return {
    kind: 'fault',
    fault,
    pages,
    retryMs: session.retryMs,
  };
}

/** Opens a session with the origin of a unit. */
function openSession(
  { pages }: JobContext,
  { job, batch }: UnitTarget,
  signal: AbortSignal,
): UnitSession {
  const { id: jobId, market, mode, userId } = job;
  // Permits go to the first batch of a job first, so that its batches end one after the other:
  // while one is written, the pages of the next ones keep the origin busy.
  const owner = { userId, jobId, order: batch.seq };
  const urgent = batch.lane === 'single';
  return pages.openSession(market, batch.region, signal, { urgent, owner, mode });
}

function withPages(result: UnitResult, pages: UnitPages | undefined): UnitResult {
  if (pages === undefined) return result;
  return { ...result, pages };
}

/**
 * Returns a fetcher whose pages are read one after the other, so that the guard of the process
 * knows which unit stalls it.
 */
function guardedFetch(
  { guard }: JobContext,
  fetch: FetchPage,
  batch: Batch,
  index: number,
): FetchPage {
  if (guard === undefined) return fetch;
  const { jobId, id: batchId, attempt } = batch;
  return async (request) => {
    const page = await fetch(request);
    await guard.begin({ jobId, batchId, attempt, index });
    return page;
  };
}

/** Message of a unit that a defect of the program ended: the log has the details. */
const internalMessage = 'The page could not be read because of an internal error.';

/**
 * Wraps the fetch of one attempt at a unit. `readAt` returns the time of the reading: now, or that
 * of kept pages, or the time of the oldest page if a cache of the site sent a copy.
 */
function datedFetch(
  { clock }: JobContext,
  fetch: FetchPage,
  keptAt: number | undefined,
): Pick<PageAccess, 'fetch' | 'readAt'> {
  let oldest = Number.POSITIVE_INFINITY;
  return {
    readAt: () => Math.min(keptAt ?? clock.now(), oldest),
    async fetch(request) {
      const page = await fetch(request);
      const time = pageTime(page);
      if (time < page.at) oldest = Math.min(oldest, time);
      return page;
    },
  };
}

/** End of the message of a unit that failed instead of waiting longer. */
const waitExceeded = '; the maximum wait was exceeded';

function failed({ code, message }: Fault, ending = ''): UnitResult {
  const reason = code === 'internal' ? internalMessage : message;
  const text = `${reason}${ending}`.slice(0, maxMessageLength);
  return { outcome: { status: 'FAILED', code, message: text } };
}

/** Returns the reason a unit is deferred, as shown to its owner. */
function reasonOf({ market }: Job, { region }: Batch, { code, message }: Fault): string {
  if (code === 'origin_paused') return message;
  const site = region === '' ? market : `${market}/${region}`;
  return `${site}: ${describePauseReason(code)}`;
}

/** Reads the pages of a unit into its result. */
async function readPages(
  context: JobContext,
  target: UnitTarget,
  access: PageAccess,
  observer: DriftObserver,
): Promise<UnitResult> {
  const { job } = target;
  const { reader } = context.jobTypes.of(job);
  const { keptAt } = access;
  if (reader.sort !== 'list') return readRecord(context, target, reader, access, observer);
  const listing = { ...access, startedAt: keptAt ?? context.clock.now() };
  const outcome = await readListing(context, target, reader, listing, observer);
  return { outcome: withProvenance(context, job, outcome, keptAt) };
}

/** Returns the milliseconds before the next attempt. */
function retryDelayMs({ retry, retryAfterMs }: Fault, attempt: number, random: number): number {
  if (retryAfterMs !== undefined) return retryAfterMs;
  const first = retry === 'later' ? firstMs.later : firstMs.soon;
  return backOffMs({ firstMs: first, maxMs }, attempt, random);
}

/** Maximum bytes of a record that is stored for later jobs. */
const maxCrawlBytes = 1024 * 1024;

/** Maximum bytes of a record. */
export const maxRecordBytes = 16_000_000;

/**
 * Page access of an attempt. `keptAt`: time at which its pages were fetched, if they are kept
 * pages. `readAt` returns the time of the reading so far.
 */
type PageAccess = ReadContext & { keptAt: number | undefined; readAt: () => number };

/** Reads the record of a unit, or reuses the record of a recent job. */
async function readRecord(
  context: JobContext,
  { job, batch, index }: UnitTarget,
  reader: RecordReader,
  access: PageAccess,
  observer: DriftObserver,
): Promise<UnitResult> {
  const { keptAt } = access;
  const { attempt } = batch;
  const unit = batch.units[index]!;
  const { stored, isMarked, keep } = await findRecent(context, job, batch, unit);
  if (stored) {
    const outcome = { status: 'SUCCESS' as const, attempt, readAt: stored.at };
    return {
      outcome: isMarked ? { ...outcome, collectedAt: stored.at } : outcome,
      payload: stored.body,
    };
  }
  const reportContradictions = observer.contradictions;
  const record = await reader.read(unit.input, { ...access, reportContradictions });
  const readAt = access.readAt();
  observer.page([record]);
  const payload = serialize(record);
  const outcome = { status: 'SUCCESS' as const, attempt, readAt };
  const result = { outcome: withProvenance(context, job, outcome, keptAt), payload, record };
  // An incomplete page is not stored for later jobs: another attempt may be complete.
  const isComplete = reader.isComplete?.(record) ?? true;
  if (!isComplete || payload.length > maxCrawlBytes) return result;
  const keepRecent = () => keep(readAt, payload);
  // The outcome of a single task does not wait for this write. Units of a larger batch may reuse
  // its record.
  if (batch.units.length === 1) return { ...result, keepRecent };
  await keepRecent();
  return result;
}

/** Returns the JSON text of a record. Throws `page_too_large`. */
function serialize(record: JsonObject): Buffer {
  const payload = Buffer.from(JSON.stringify(record));
  if (payload.length > maxRecordBytes) {
    throw new Fault(
      'page_too_large',
      `the record has ${payload.length} bytes, the maximum is ${maxRecordBytes}`,
    );
  }
  return payload;
}

/** Adds the reader to the outcome of a unit whose pages are kept, and the time of kept pages. */
function withProvenance(
  { jobTypes, settings }: JobContext,
  job: Job,
  outcome: Outcome,
  keptAt: number | undefined,
): Outcome {
  if (outcome.status === 'FAILED') return outcome;
  if (keptAt === undefined && !keepsPages(job)) return outcome;
  const { kind } = jobTypes.of(job);
  const sourced = { ...outcome, reader: `${job.market}/${kind.page} ${settings.version}` };
  return keptAt === undefined ? sourced : { ...sourced, collectedAt: keptAt };
}
