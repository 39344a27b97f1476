import { Fault } from '../../contract/fault.ts';
import type { FetchPage } from '../../fetch/page.ts';
import { describePauseReason } from '../../fetch/request-outcome.ts';
import type { ListPage, ListSummary } from '../../markets/market.ts';
import { createQualityCounter, type QualityCounter } from '../../quality/tally.ts';
import type { Batch, Job, Outcome } from '../../store/documents.ts';
import { ownAttribute } from '../../telemetry/attributes.ts';
import { failSpan, inSpan } from '../../telemetry/trace.ts';
import type { JobContext, StoreUse } from '../context.ts';
import { recordFieldsOf } from '../queries/rows.ts';
import { createDriftObserver, type DriftObserver, type DriftObserverContext } from './drift-observer.ts';
import { limitRecords } from './limit-records.ts';
import { type UnitFileContext, writeUnitFile } from './unit-file.ts';
import { type DeferredUnit, maxInPlaceWaitMs, type RetryBudget } from './waiting.ts';

/** Dependencies of this module. */
export type ReadUnitContext = Pick<
  JobContext,
  'clock' | 'log' | 'metrics' | 'offers' | 'pages' | 'random' | 'settings'
> &
  StoreUse<'findCrawl' | 'putCrawl'> &
  DriftObserverContext &
  UnitFileContext;

/** Maximum attempts at one unit, by the retry rule of the last fault. */
const maxAttempts = { soon: 4, later: 6 };
/** First back-off in milliseconds, doubled by each attempt. */
const backOffMs = { soon: 500, later: 2_000 };
const maxBackOffMs = 60_000;
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
    const ms = session.retryMs ?? backOff(fault, attempt, random());
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
  const { reader, kind, market } = context.offers.of(job);
  const unit = batch.units[index]!;
  const reading = { region: batch.region, fetch };
  if (reader.sort === 'list') {
    const counter = createQualityCounter(recordFieldsOf({ kind, market }));
    const pages = observer.pages(limitRecords(reader.read(unit.input, reading), market));
    const file = await writeUnitFile(context, job, batch, index, countEntries(pages, counter));
    return { outcome: { status: 'SUCCESS', attempt: batch.attempt, file, quality: counter.tally() } };
  }
  const { store, clock, settings } = context;
  const outcome: Outcome = { status: 'SUCCESS', attempt: batch.attempt };
  // Batches of test jobs have the market of the sandbox's queue, so that live jobs never get their pages.
  const place = job.mode === 'test' ? `${batch.market}/${job.market}` : job.market;
  const recent = kind.recent && `${place}/${kind.recent.key(unit, batch.region)}`;
  if (recent && kind.recent?.serves(job)) {
    const kept = await store.findCrawl(recent, clock.now() - settings.recentCrawlMs);
    if (kept) return { outcome, payload: kept };
  }
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
  if (recent && isComplete && payload.length <= maxCrawlBytes) {
    await store.putCrawl(recent, clock.now(), payload);
  }
  return { outcome, payload };
}

/** Yields the pages of a listing and counts their entries. */
async function* countEntries(
  pages: AsyncGenerator<ListPage, ListSummary, void>,
  counter: QualityCounter,
): AsyncGenerator<ListPage, ListSummary, void> {
  try {
    let next = await pages.next();
    for (; !next.done; next = await pages.next()) {
      for (const entry of next.value.entries) counter.add(entry);
      yield next.value;
    }
    return next.value;
  } finally {
    // Closes the reader when the consumer stops early.
    await pages.return({});
  }
}

/** Returns the milliseconds before the next attempt. `chance`, from 0 to 1, spreads the attempts of a batch's units. */
function backOff(fault: Fault, attempt: number, chance: number): number {
  if (fault.retryAfterMs !== undefined) return fault.retryAfterMs;
  const first = fault.retry === 'later' ? backOffMs.later : backOffMs.soon;
  return Math.min(first * 2 ** (attempt - 1), maxBackOffMs) * (0.5 + chance / 2);
}
