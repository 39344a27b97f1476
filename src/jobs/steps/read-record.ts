import type { JsonObject } from '../../base/json.ts';
import { Fault } from '../../contract/fault.ts';
import type { ReadContext, RecordReader } from '../../markets/market.ts';
import type { Outcome } from '../../store/batches.ts';
import type { Job } from '../../store/documents.ts';
import type { JobContext } from '../context.ts';
import { keepsPages } from '../kept-pages.ts';
import { findRecent } from '../reuse.ts';
import type { DriftObserver } from './read-listing.ts';
import type { UnitResult, UnitTarget } from './unit-result.ts';

/** Maximum bytes of a record that is stored for later jobs. */
const maxCrawlBytes = 1024 * 1024;

/** Maximum bytes of a record. */
export const maxRecordBytes = 16_000_000;

/**
 * Page access of an attempt. `keptAt`: time at which its pages were fetched, if they are kept
 * pages.
 */
export type PageAccess = ReadContext & { keptAt: number | undefined };

/** Reads the record of a unit, or reuses the record of a recent job. */
export async function readRecord(
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
  const readAt = keptAt ?? context.clock.now();
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
export function withProvenance(
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
