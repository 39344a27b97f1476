import { timestampDate } from '@bufbuild/protobuf/wkt';
import type { ProgressPoint } from '../../gen/gleaner/job/v1/job_pb.ts';

/** An interval this many times longer than the median is a pause. */
const pauseFactor = 5;

/** Units of a job that had ended at a time. */
export type EndedUnits = Pick<ProgressPoint, 'at' | 'success' | 'failed'>;

/** Time in milliseconds between two ends of batches, and the units that ended in it. */
interface Interval {
  ms: number;
  done: number;
}

/**
 * Estimates the remaining work of a job in milliseconds from its measured rate. Pauses do not lower
 * the rate: intervals much longer than the median are ignored, and so is the time since the last
 * batch ended. Returns undefined until two batches have ended.
 */
export function remainingMs(points: readonly EndedUnits[], total: number): number | undefined {
  const intervals = intervalsOf(points)
    .slice(0, -1)
    .filter(({ done }) => done > 0);
  if (intervals.length < 2) return undefined;
  const maxMs = maxActiveMs(intervals);
  const active = intervals.filter(({ ms }) => ms <= maxMs);
  const sum = (value: (interval: Interval) => number) =>
    active.reduce((result, interval) => result + value(interval), 0);
  const last = points.at(-1)!;
  const left = Math.max(0, total - last.success - last.failed);
  return left * (sum(({ ms }) => ms) / sum(({ done }) => done));
}

/**
 * Returns whether no batch has ended for much longer than usual, so that an estimate would be a
 * guess.
 */
export function isStalled(points: readonly EndedUnits[]): boolean {
  const intervals = intervalsOf(points);
  const last = intervals.pop();
  const ended = intervals.filter(({ done }) => done > 0);
  return last !== undefined && ended.length > 0 && last.ms > maxActiveMs(ended);
}

/** Returns the intervals between the points; the last one ends now. */
function intervalsOf(points: readonly EndedUnits[]): Interval[] {
  const steps = points.flatMap(({ at, success, failed }) =>
    at ? [{ ms: timestampDate(at).getTime(), done: success + failed }] : [],
  );
  return steps.slice(1).map((step, index) => ({
    ms: step.ms - steps[index]!.ms,
    done: step.done - steps[index]!.done,
  }));
}

/** Returns the length above which an interval is a pause. */
function maxActiveMs(intervals: readonly Interval[]): number {
  const sorted = intervals.map(({ ms }) => ms).sort((one, other) => one - other);
  return Math.max(sorted[(sorted.length - 1) >> 1]!, 1) * pauseFactor;
}
