import { timestampDate } from '@bufbuild/protobuf/wkt';
import type { ProgressPoint } from '../../../gen/gleaner/job/v1/job_pb.ts';

/** An interval this many times longer than the median is a pause. */
const pauseFactor = 5;

/**
 * Estimates the remaining work of a job in milliseconds from its measured rate. Pauses do not lower the rate:
 * intervals much longer than the median are ignored, and so is the time since the last batch ended.
 * Returns undefined until two batches have ended.
 */
export function remainingMs(
  points: readonly Pick<ProgressPoint, 'at' | 'success' | 'failed'>[],
  total: number,
): number | undefined {
  const steps = points.flatMap(({ at, success, failed }) =>
    at ? [{ ms: timestampDate(at).getTime(), done: success + failed }] : [],
  );
  const intervals = steps
    .slice(1, -1)
    .map((step, index) => ({ ms: step.ms - steps[index]!.ms, done: step.done - steps[index]!.done }))
    .filter(({ done }) => done > 0);
  if (intervals.length < 2) return undefined;
  const sorted = intervals.map(({ ms }) => ms).sort((one, other) => one - other);
  const median = sorted[(sorted.length - 1) >> 1]!;
  const active = intervals.filter(({ ms }) => ms <= Math.max(median, 1) * pauseFactor);
  const sum = (value: (interval: { ms: number; done: number }) => number) =>
    active.reduce((result, interval) => result + value(interval), 0);
  const left = Math.max(0, total - steps.at(-1)!.done);
  return left * (sum(({ ms }) => ms) / sum(({ done }) => done));
}
