import { timestampMs } from '@bufbuild/protobuf/wkt';
import type { FieldQuality, Job } from '../../../gen/gleaner/job/v1/job_pb.ts';
import { seriesOf } from '../../../src/contract/track.ts';

/** Fill of a field, in percent. */
type Fill = Pick<FieldQuality, 'name' | 'records' | 'filled' | 'percent'>;

/** A field that is filled less often than before. */
export interface FillDrop {
  name: string;
  percent: number;
  /** Percentage in the last run. */
  before: number;
}

/** Percentage points from which a lower fill is shown. */
const minDrop = 20;

/** Records without the field, beyond the share of the last run, from which a drop is shown. */
const minRecords = 3;

/**
 * Returns the fields that fewer records have than in the last run, the largest drop first: one or
 * two records, such as products that are sold out, are no drop, unless no record has the field.
 */
export function fillDrops(fields: readonly Fill[], lastFields: readonly Fill[]): FillDrop[] {
  const last = new Map(lastFields.map((field) => [field.name, field]));
  return fields
    .flatMap(({ name, records, filled, percent }) => {
      const before = last.get(name);
      if (records === 0n || before === undefined || before.records === 0n) return [];
      const drop = before.percent - percent;
      const isFew = filled > 0n && (drop / 100) * Number(records) < minRecords;
      if (drop >= minDrop && !isFew) return [{ name, percent, before: before.percent }];
      return [];
    })
    .toSorted((one, other) => other.before - other.percent - (one.before - one.percent));
}

/** Returns whether the records have fields for prices, and none of them has a price. */
export function lacksPrices(fields: readonly Fill[]): boolean {
  const prices = fields.filter(({ name, records }) => /price/i.test(name) && records > 0n);
  return prices.length > 0 && prices.every(({ filled }) => filled === 0n);
}

type Run = Pick<
  Job,
  | 'jobId'
  | 'scheduleId'
  | 'options'
  | 'region'
  | 'total'
  | 'ended'
  | 'success'
  | 'createdAt'
  | 'market'
  | 'kind'
>;

/**
 * Returns what the runs of the same work have in common: their schedule, series, or name, or else
 * the region and the number of units, which a list that is submitted again has.
 */
function workOf({ scheduleId, options, region, total }: Run): string {
  if (scheduleId !== '') return `schedule ${scheduleId}`;
  const series = seriesOf(options?.track);
  if (series) return `series ${series}`;
  if (options?.name) return `name ${options.name}`;
  return `${total} units in ${region}`;
}

/**
 * Returns the last run before a job, of a list with the newest first; undefined if there is none.
 */
export function lastRun<Other extends Run>(job: Run, jobs: readonly Other[]): Other | undefined {
  const startMs = job.createdAt ? timestampMs(job.createdAt) : 0;
  return jobs.find(
    (other) =>
      other.jobId !== job.jobId &&
      other.market === job.market &&
      other.kind === job.kind &&
      other.ended &&
      other.success > 0 &&
      other.createdAt !== undefined &&
      timestampMs(other.createdAt) <= startMs &&
      workOf(other) === workOf(job),
  );
}
