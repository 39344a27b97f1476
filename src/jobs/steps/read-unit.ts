import { backOffMs } from '../../base/back-off.ts';
import { Fault } from '../../contract/fault.ts';
import type { FetchPage } from '../../fetch/page.ts';
import { describePauseReason } from '../../fetch/request-outcome.ts';
import type { Batch, Job, Outcome } from '../../store/documents.ts';
import { ownAttribute } from '../../telemetry/attributes.ts';
import { failSpan, inSpan } from '../../telemetry/trace.ts';
import type { JobContext, StoreUse } from '../context.ts';
import { recentOf } from '../reuse.ts';
import { createDriftObserver, type DriftObserver, type DriftObserverContext } from './drift-observer.ts';
import { type ReadListingContext, readListing } from './read-listing.ts';
import { type DeferredUnit, maxInPlaceWaitMs, type RetryBudget } from './waiting.ts';

/** Dependencies of this module. */
export type ReadUnitContext = Pick<
  JobContext,
  'clock' | 'log' | 'metrics' | 'offers' | 'pages' | 'random' | 'settings'
> &
  StoreUse<'findCrawl' | 'putCrawl'> &
  DriftObserverContext &
  ReadListingContext;

/** Maximum attempts at one unit, by the retry rule of the last fault. */
const maxAttempts = { soon: 4, later: 6 };
/** First back-off in milliseconds, doubled by each attempt. */
const firstMs = { soon: 500, later: 2_000 };
const maxMs = 60_000;
/** Maximum bytes of a record that is stored for later jobs. */
const maxCrawlBytes = 1024 * 1024;

/** Maximum bytes of a record. */
export const maxRecordBytes = 16_000_000;

/** Maximum characters of a failed unit's message: it may quote the marketplace, and outcomes share a document. */
const maxMessageLength = 1_000;

/** Outcome of a unit, with its serialized record for kinds without a file per unit. */
export interface UnitResult {
  outcome: Outcome;
  payload?: Uint8Array;
}

/**
 * Reads one unit and retries it as its faults allow. Rejects only if `signal` aborts or one of the service's own
 * engines (store, blobs, queue) fails. With a `budget`, a wait of more than 10 seconds is not slept here: the result
 * is the time of the next attempt, or a failure if that is past the budget.
 */
export async function readUnit(
  context: ReadUnitContext,
  job: Job,
  batch: Batch,
  index: number,
  signal: AbortSignal,
): Promise<UnitResult>;
export async function readUnit(
  context: ReadUnitContext,
  job: Job,
  batch: Batch,
  index: number,
  signal: AbortSignal,
  budget: RetryBudget,
): Promise<UnitResult | DeferredUnit>;
export async function readUnit(
  context: ReadUnitContext,
  job: Job,
  batch: Batch,
  index: number,
  signal: AbortSignal,
  budget?: RetryBudget,
): Promise<UnitResult | DeferredUnit> {
  const { clock, metrics } = context;
  const startedAt = clock.now();
  const attributes = { [ownAttribute.kind]: job.kind, [ownAttribute.index]: index };
  const result = await inSpan('read unit', { attributes }, async (span) => {
    const read = await readWithRetries(context, job, batch, index, signal, budget);
    if ('outcome' in read && read.outcome.status === 'FAILED') failSpan(span, read.outcome.code);
    return read;
  });
  if (!('until' in result)) metrics.record('gleaner_unit_duration_seconds', clock.now() - startedAt);
  return result;
}

async function readWithRetries(
  context: ReadUnitContext,
  job: Job,
  batch: Batch,
  index: number,
  signal: AbortSignal,
  budget: RetryBudget | undefined,
): Promise<UnitResult | DeferredUnit> {
  const { clock, log, pages, random } = context;
  const observer = createDriftObserver(context, job, batch, index);
  const { mode, market, userId } = job;
  const caller = { urgent: batch.lane === 'single', owner: { userId, jobId: job.id }, mode };
  for (let attempt = budget?.tries ?? 0; ; ) {
    signal.throwIfAborted();
    const session = pages.openSession(market, batch.region, signal, caller);
    let fault: Fault;
    try {
      const result = await tryRead(context, job, batch, index, session.fetch, observer);
      await session.end(null);
      return result;
    } catch (error) {
      fault = signal.aborted ? new Fault('unavailable', 'reading stopped') : Fault.from(error);
    }
    if (fault.code === 'unavailable') {
      await session.end(fault);
      signal.throwIfAborted();
      throw fault;
    }
    if (fault.code === 'internal') {
      log.error({ jobId: job.id, batchId: batch.id, index, error: fault.stack }, 'reader failed');
    }
    await session.end(fault);
    observer.fault(fault);
    // Without a request, this was no attempt.
    const isRequested = !budget || fault.code !== 'origin_paused';
    if (isRequested) attempt += 1;
    if (fault.retry === 'never' || (isRequested && attempt >= maxAttempts[fault.retry])) return failed(fault);
    const ms = session.retryMs ?? retryDelayMs(fault, attempt, random());
    if (budget && (ms > maxInPlaceWaitMs || !isRequested)) {
      const until = clock.now() + ms;
      return until > budget.until
        ? failed(fault, true)
        : { until, reason: reasonOf(job, batch, fault), tries: attempt };
    }
    await clock.sleep(ms, signal);
  }
}

function failed({ code, message }: Fault, waited = false): UnitResult {
  const text = waited ? `${message}; the maximum wait was exceeded` : message;
  return { outcome: { status: 'FAILED', code, message: text.slice(0, maxMessageLength) } };
}

/** Returns the reason a unit is deferred, as shown to its owner. */
function reasonOf({ market }: Job, { region }: Batch, { code, message }: Fault): string {
  if (code === 'origin_paused') return message;
  return `${region === '' ? market : `${market}/${region}`}: ${describePauseReason(code)}`;
}

async function tryRead(
  context: ReadUnitContext,
  job: Job,
  batch: Batch,
  index: number,
  fetch: FetchPage,
  observer: DriftObserver,
): Promise<UnitResult> {
  const offer = context.offers.of(job);
  const { reader } = offer;
  const unit = batch.units[index]!;
  const reading = { region: batch.region, fetch };
  if (reader.sort === 'list')
    return { outcome: await readListing(context, { job, batch, index }, reader, reading, observer) };
  const { store, clock } = context;
  const outcome: Outcome = { status: 'SUCCESS', attempt: batch.attempt };
  const { key, maxAgeMs, isMarked } = recentOf(context, offer, job, batch, unit);
  const kept = key === null || maxAgeMs === null ? null : await store.findCrawl(key, clock.now() - maxAgeMs);
  if (kept) return { outcome: isMarked ? { ...outcome, collectedAt: kept.at } : outcome, payload: kept.body };
  const record = await reader.read(unit.input, reading);
  observer.record(record);
  const payload = Buffer.from(JSON.stringify(record));
  if (payload.length > maxRecordBytes) {
    throw new Fault(
      'page_too_large',
      `the record has ${payload.length} bytes, the maximum is ${maxRecordBytes}`,
    );
  }
  // An incomplete page is not stored for later jobs: another attempt may be complete.
  const isComplete = reader.isComplete?.(record) ?? true;
  if (key !== null && isComplete && payload.length <= maxCrawlBytes) {
    await store.putCrawl(key, clock.now(), payload);
  }
  return { outcome, payload };
}

/** Returns the milliseconds before the next attempt. */
function retryDelayMs({ retry, retryAfterMs }: Fault, attempt: number, random: number): number {
  if (retryAfterMs !== undefined) return retryAfterMs;
  return backOffMs({ firstMs: firstMs[retry === 'later' ? 'later' : 'soon'], maxMs }, attempt, random);
}
