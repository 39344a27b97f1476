import { timestampMs } from '@bufbuild/protobuf/wkt';
import type { ItemValues, Observation } from '../../../gen/gleaner/history/v1/history_pb.ts';

/** Value over time. */
export interface SeriesPoint {
  /** Milliseconds since the epoch. */
  at: number;
  value: number;
}

/** A value that is drawn over time. */
export type ChartField = 'price' | 'stock' | 'sold';

/**
 * Returns the values of a field over time, oldest first, from observations that are newest first.
 * The last value is repeated at `now`, because it still holds. Prices are those in the currency of
 * the newest observation: prices in other currencies have no place on its axis.
 */
export function pointsOf(
  observations: readonly Observation[],
  field: ChartField,
  now: number,
): SeriesPoint[] {
  const currency = observations[0]?.values?.currency;
  const isComparable = (observation: Observation): boolean =>
    field !== 'price' || observation.values?.currency === currency;
  const comparable = observations.filter(isComparable).toReversed();
  const points = comparable.flatMap(({ observedAt, values }) => {
    const value = numberOf(values, field);
    return observedAt === undefined || value === null
      ? []
      : [{ at: timestampMs(observedAt), value }];
  });
  const last = points.at(-1);
  return last === undefined || last.at >= now
    ? points
    : [...points, { at: now, value: last.value }];
}

function numberOf(values: ItemValues | undefined, field: ChartField): number | null {
  const value = values?.[field];
  return value === undefined ? null : Number(value);
}
