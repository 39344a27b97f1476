import { Fault } from '../base/fault.ts';
import type { FetchPage } from '../fetch/page.ts';
import { inWords } from '../fetch/verdict.ts';
import type { Batch, Job, Outcome } from '../store/documents.ts';
import type { JobContext } from './context.ts';
import { createDriftObserver, type DriftObserver } from './drift-observer.ts';
import { limitRecords } from './limit-records.ts';
import { writeUnitFile } from './unit-file.ts';
import { type DeferredUnit, maxInPlaceWaitMs, type RetryBudget } from './waiting.ts';

/** Tries of one unit, by the retry rule of the fault that the last one met. */
const tries = { soon: 4, later: 6 };
/** First back-off; doubled by every try. */
const backOffMs = { soon: 500, later: 2_000 };
const maxBackOffMs = 60_000;
/** Bytes of a page that is kept for later jobs. */
const maxCrawlBytes = 1024 * 1024;

/** Maximum bytes of a record. */
export const maxRecordBytes = 16_000_000;

/** Characters of a failed unit's message at most: messages may quote the marketplace, and outcomes share a document. */
const maxMessageLength = 1_000;

/** What a unit came to: its outcome, and its record's bytes for kinds without a file per unit. */
export interface UnitResult {
  outcome: Outcome;
  payload?: Uint8Array;
}

/**
 * Reads one unit, again where its fault says that another try makes sense; a unit that is not there
 * is settled at once. Rejects only when stopped or when one of our own engines fails. With `budget`
 * a long wait is not waited here: the result is when to go on, or, past the budget, a failure.
 */
export async function readUnit(
  context: JobContext,
  job: Job,
  batch: Batch,
  index: number,
  signal: AbortSignal,
): Promise<UnitResult>;
export async function readUnit(
  context: JobContext,
  job: Job,
  batch: Batch,
  index: number,
  signal: AbortSignal,
  budget: RetryBudget,
): Promise<UnitResult | DeferredUnit>;
export async function readUnit(
  context: JobContext,
  job: Job,
  batch: Batch,
  index: number,
  signal: AbortSignal,
  budget?: RetryBudget,
): Promise<UnitResult | DeferredUnit> {
  const { clock, log, pages, random } = context;
  const observer = createDriftObserver(context, job, batch, index);
  const caller = { urgent: batch.lane === 'single', owner: { userId: job.userId, jobId: job.id } };
  for (let attempt = budget?.tries ?? 0; ; ) {
    signal.throwIfAborted();
    const visit = pages.visit(batch.market, batch.region, signal, caller);
    let fault: Fault;
    try {
      const result = await tryRead(context, job, batch, index, visit.fetch, observer);
      await visit.ended(null);
      return result;
    } catch (error) {
      fault = signal.aborted ? new Fault('unavailable', 'reading was stopped') : Fault.from(error);
    }
    if (fault.code === 'unavailable') {
      await visit.ended(fault);
      signal.throwIfAborted();
      throw fault;
    }
    if (fault.code === 'internal') {
      log.error({ jobId: job.id, batchId: batch.id, index, error: fault.stack }, 'a reader failed');
    }
    await visit.ended(fault);
    observer.fault(fault);
    // A page that was not asked for is no try of it.
    const asked = !budget || fault.code !== 'origin_paused';
    if (asked) attempt += 1;
    if (fault.retry === 'never' || (asked && attempt >= tries[fault.retry])) return failed(fault);
    const ms = backOff(fault, attempt, random());
    if (budget && (ms > maxInPlaceWaitMs || !asked)) {
      const until = clock.now() + ms;
      return until > budget.until
        ? failed(fault, true)
        : { until, reason: reasonOf(batch, fault), tries: attempt };
    }
    await clock.sleep(ms, signal);
  }
}

function failed({ code, message }: Fault, waited = false): UnitResult {
  const words = waited ? `${message}; it was waited for too long` : message;
  return { outcome: { status: 'FAILED', code, message: words.slice(0, maxMessageLength) } };
}

/** What a unit waits for, in words. */
function reasonOf({ market, region }: Batch, { code, message }: Fault): string {
  if (code === 'origin_paused') return message;
  return `${region === '' ? market : `${market}/${region}`}: ${inWords(code)}`;
}

async function tryRead(
  context: JobContext,
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
    const file = await writeUnitFile(
      context,
      job,
      batch,
      index,
      observer.pages(limitRecords(reader.read(unit.input, reading), market)),
    );
    return { outcome: { status: 'SUCCESS', attempt: batch.attempt, file } };
  }
  const { store, clock, settings } = context;
  const outcome: Outcome = { status: 'SUCCESS', attempt: batch.attempt };
  const recent = kind.recent && `${batch.market}/${kind.recent.key(unit, batch.region)}`;
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
  // A page that hides what it can show is no answer for later jobs: another try may show it.
  const isComplete = reader.isComplete?.(record) ?? true;
  if (recent && isComplete && payload.length <= maxCrawlBytes) {
    await store.putCrawl(recent, clock.now(), payload);
  }
  return { outcome, payload };
}

/** Returns the milliseconds before the next attempt. `chance`, from 0 to 1, spreads the attempts of a batch's units. */
function backOff(fault: Fault, attempt: number, chance: number): number {
  if (fault.retryAfterMs !== undefined) return fault.retryAfterMs;
  const first = fault.retry === 'later' ? backOffMs.later : backOffMs.soon;
  return Math.min(first * 2 ** (attempt - 1), maxBackOffMs) * (0.5 + chance / 2);
}
