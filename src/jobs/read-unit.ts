import type { Clock } from '../base/clock.ts';
import { Fault } from '../base/fault.ts';
import type { Batch, Job, Outcome } from '../store/documents.ts';
import type { JobContext } from './context.ts';
import { writeUnitFile } from './unit-file.ts';

/** Tries of one unit, by the retry rule of the fault that the last one met. */
const tries = { soon: 4, later: 6 };
/** First back-off; doubled by every try. */
const backOffMs = { soon: 500, later: 2_000 };
const longestBackOffMs = 60_000;

/** What a unit came to: its outcome, and its record's bytes for kinds that keep them in the store. */
export interface UnitResult {
  outcome: Outcome;
  payload?: Uint8Array;
}

/**
 * Reads one unit, again where its fault says that another try makes sense; a unit that is not there
 * is settled at once. Rejects only when stopped or when one of our own engines fails.
 */
export async function readUnit(
  context: JobContext,
  job: Job,
  batch: Batch,
  index: number,
  signal: AbortSignal,
): Promise<UnitResult> {
  for (let attempt = 1; ; attempt++) {
    signal.throwIfAborted();
    try {
      return await readOnce(context, job, batch, index, signal);
    } catch (error) {
      signal.throwIfAborted();
      const fault = Fault.from(error);
      if (fault.code === 'unavailable') throw fault;
      if (fault.code === 'internal') {
        context.log.error({ jobId: job.id, batchId: batch.id, index, error: fault.stack }, 'a reader failed');
      }
      if (fault.retry === 'later') await context.pages.note(batch.market, batch.region, fault);
      if (fault.retry === 'never' || attempt >= tries[fault.retry]) {
        return { outcome: { status: 'FAILED', code: fault.code, message: fault.message } };
      }
      await backOff(context.clock, fault, attempt, signal);
    }
  }
}

async function readOnce(
  context: JobContext,
  job: Job,
  batch: Batch,
  index: number,
  signal: AbortSignal,
): Promise<UnitResult> {
  const { reader, kind } = context.offers.of(job);
  const unit = batch.units[index]!;
  const reading = { region: batch.region, fetch: context.pages.fetcher(batch.market, batch.region, signal) };
  if (reader.sort === 'list') {
    const file = await writeUnitFile(context, job, batch, index, reader.read(unit.input, reading));
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
  const payload = Buffer.from(JSON.stringify(record));
  if (recent) await store.keepCrawl(recent, clock.now(), payload);
  return { outcome, payload };
}

/** Waits before the next try, with jitter so that a batch's units don't come back as one. */
async function backOff(clock: Clock, fault: Fault, attempt: number, signal: AbortSignal): Promise<void> {
  if (fault.retry === 'never') return;
  const ms = Math.min(backOffMs[fault.retry] * 2 ** (attempt - 1), longestBackOffMs);
  await clock.sleep(fault.retryAfterMs ?? ms * (0.5 + Math.random() / 2), signal);
}
