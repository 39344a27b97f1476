import { setImmediate as nextTurn } from 'node:timers/promises';
import { backOffMs } from '../../base/back-off.ts';
import type { JsonObject } from '../../base/json.ts';
import { Fault } from '../../contract/fault.ts';
import type { FetchPage } from '../../fetch/page.ts';
import { describePauseReason } from '../../fetch/request-outcome.ts';
import type { ReadContext } from '../../markets/market.ts';
import type { Batch, Outcome } from '../../store/batches.ts';
import type { Job } from '../../store/documents.ts';
import { ownAttribute } from '../../telemetry/attributes.ts';
import { failSpan, inSpan } from '../../telemetry/trace.ts';
import type { JobContext } from '../context.ts';
import { capturePages, keepsPages, openKeptSession, type UnitPages } from '../kept-pages.ts';
import { findRecent } from '../reuse.ts';
import { createDriftObserver, type DriftObserver, readListing } from './read-listing.ts';

/** A unit that cannot be read now, and the time of its next attempt. */
export interface DeferredUnit {
  until: number;
  /** Reason shown to the owner: "mkta/id: blocked (page_blocked)". */
  reason: string;
  /** Attempts so far. */
  tries: number;
}

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
/** Maximum bytes of a record that is stored for later jobs. */
const maxCrawlBytes = 1024 * 1024;

/** Maximum bytes of a record. */
export const maxRecordBytes = 16_000_000;

/**
 * Maximum characters of a failed unit's message: it may quote the marketplace, and outcomes share a
 * document.
 */
const maxMessageLength = 1_000;

/** Outcome of a unit, with its record for kinds without a file per unit. */
export interface UnitResult {
  outcome: Outcome;
  payload?: Uint8Array;
  /** The record before it was serialized. Absent for a reused one. */
  record?: JsonObject;
  /** Stores the record for later jobs, if that is left to do after the outcome. */
  keepRecent?: () => Promise<void>;
  /** Pages of the last attempt, if they are kept. */
  pages?: UnitPages;
}

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
  const result = await inSpan('read unit', { attributes }, async (span) => {
    const read = await readWithRetries(context, job, batch, index, signal, budget);
    if ('outcome' in read && read.outcome.status === 'FAILED') failSpan(span, read.outcome.code);
    return read;
  });
  if (!('until' in result))
    metrics.record('gleaner_unit_duration_seconds', clock.steady() - startedAt);
  return result;
}

async function readWithRetries(
  context: JobContext,
  job: Job,
  batch: Batch,
  index: number,
  signal: AbortSignal,
  budget: RetryBudget,
): Promise<UnitResult | DeferredUnit> {
  const { clock, log, pages, random } = context;
  const observer = createDriftObserver(context, job, batch, index);
  const { mode, market, userId } = job;
  // The first batch of a job gets its permits first, so that batches end one after the other: while
  // one is written, the pages of the next ones keep the origin busy.
  const owner = { userId, jobId: job.id, order: batch.seq };
  const caller = { urgent: batch.lane === 'single', owner, mode };
  for (let attempt = budget.tries; ; ) {
    signal.throwIfAborted();
    const session =
      job.rereadOf === null
        ? pages.openSession(market, batch.region, signal, caller)
        : await openKeptSession(context, job, batch, index);
    const capture = keepsPages(job) ? capturePages(session.fetch) : null;
    const withPages = (result: UnitResult) =>
      capture === null ? result : { ...result, pages: capture.captured };
    let fault: Fault;
    try {
      const fetch = guardedFetch(context, capture?.fetch ?? session.fetch, batch, index);
      const readContext = { region: batch.region, fetch, keptAt: session.readAt };
      const result = await tryRead(context, job, batch, index, readContext, observer);
      await session.end(null);
      return withPages(result);
    } catch (error) {
      fault = signal.aborted ? new Fault('unavailable', 'reading stopped') : Fault.from(error);
    }
    if (fault.isOutage) {
      await session.end(fault);
      signal.throwIfAborted();
      throw fault;
    }
    if (fault.code === 'internal') {
      log.error({ jobId: job.id, batchId: batch.id, index, error: fault.stack }, 'reader failed');
    }
    await session.end(fault);
    observer.fault(fault);
    // No request was sent, so this does not count as an attempt.
    const isRequested = fault.code !== 'origin_paused';
    if (isRequested) attempt += 1;
    if (fault.retry === 'never' || (isRequested && attempt >= maxAttempts[fault.retry]))
      return withPages(failed(fault));
    const ms = session.retryMs ?? retryDelayMs(fault, attempt, random());
    if (ms > maxInPlaceWaitMs || !isRequested) {
      const until = clock.steady() + ms;
      return until > budget.until
        ? withPages(failed(fault, true))
        : { until, reason: reasonOf(job, batch, fault), tries: attempt };
    }
    await clock.sleep(ms, signal);
  }
}

/**
 * Returns a fetcher whose pages are read in a turn of the event loop of their own, so that the
 * guard of the process knows which unit stalls it.
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
    await nextTurn();
    guard.begin({ jobId, batchId, attempt, index });
    return page;
  };
}

/** Message of a unit that a defect of the program ended: the log has the details. */
const internalMessage = 'The page could not be read because of an internal error.';

function failed({ code, message }: Fault, hasWaited = false): UnitResult {
  const reason = code === 'internal' ? internalMessage : message;
  const text = hasWaited ? `${reason}; the maximum wait was exceeded` : reason;
  return { outcome: { status: 'FAILED', code, message: text.slice(0, maxMessageLength) } };
}

/** Returns the reason a unit is deferred, as shown to its owner. */
function reasonOf({ market }: Job, { region }: Batch, { code, message }: Fault): string {
  if (code === 'origin_paused') return message;
  return `${region === '' ? market : `${market}/${region}`}: ${describePauseReason(code)}`;
}

async function tryRead(
  context: JobContext,
  job: Job,
  batch: Batch,
  index: number,
  readContext: ReadContext & { keptAt: number | undefined },
  observer: DriftObserver,
): Promise<UnitResult> {
  const { clock, settings } = context;
  const { reader, kind } = context.jobTypes.of(job);
  const { keptAt } = readContext;
  /** Adds the provenance of a result whose pages are kept. */
  const sourced = (outcome: Outcome): Outcome => {
    if (outcome.status === 'FAILED' || (keptAt === undefined && !keepsPages(job))) return outcome;
    const version = `${job.market}/${kind.page} ${settings.version}`;
    return {
      ...outcome,
      reader: version,
      ...(keptAt === undefined ? {} : { collectedAt: keptAt }),
    };
  };
  const unit = batch.units[index]!;
  if (reader.sort === 'list') {
    const target = { job, batch, index };
    const listing = { ...readContext, readAt: keptAt ?? clock.now() };
    return { outcome: sourced(await readListing(context, target, reader, listing, observer)) };
  }
  const outcomeAt = (readAt: number) => ({
    status: 'SUCCESS' as const,
    attempt: batch.attempt,
    readAt,
  });
  const { stored, isMarked, keep } = await findRecent(context, job, batch, unit);
  if (stored) {
    const outcome = outcomeAt(stored.at);
    return {
      outcome: isMarked ? { ...outcome, collectedAt: stored.at } : outcome,
      payload: stored.body,
    };
  }
  const reportContradictions = observer.contradictions;
  const record = await reader.read(unit.input, { ...readContext, reportContradictions });
  const readAt = keptAt ?? clock.now();
  observer.page([record]);
  const payload = Buffer.from(JSON.stringify(record));
  if (payload.length > maxRecordBytes) {
    throw new Fault(
      'page_too_large',
      `the record has ${payload.length} bytes, the maximum is ${maxRecordBytes}`,
    );
  }
  // An incomplete page is not stored for later jobs: another attempt may be complete.
  const isComplete = reader.isComplete?.(record) ?? true;
  const result = { outcome: sourced(outcomeAt(readAt)), payload, record };
  if (!isComplete || payload.length > maxCrawlBytes) return result;
  const keepRecent = () => keep(readAt, payload);
  // The outcome of a single task does not wait for this write. Units of a larger batch may reuse
  // its record.
  if (batch.units.length === 1) return { ...result, keepRecent };
  await keepRecent();
  return result;
}

/** Returns the milliseconds before the next attempt. */
function retryDelayMs({ retry, retryAfterMs }: Fault, attempt: number, random: number): number {
  if (retryAfterMs !== undefined) return retryAfterMs;
  return backOffMs(
    { firstMs: firstMs[retry === 'later' ? 'later' : 'soon'], maxMs },
    attempt,
    random,
  );
}
