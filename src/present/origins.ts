import type { Origin } from '../../gen/gleaner/operator/v1/operator_pb.ts';

/** Sorts origins by urgency: paused ones first, then by number of requests, then by name. */
export function sortByUrgency(origins: readonly Origin[]): Origin[] {
  const rank = ({ pausedUntil, minutes }: Origin) =>
    pausedUntil
      ? Number.POSITIVE_INFINITY
      : minutes.reduce((total, { requests }) => total + requests, 0);
  return origins.toSorted(
    (one, other) =>
      Number(rank(one) < rank(other)) - Number(rank(one) > rank(other)) ||
      one.origin.localeCompare(other.origin),
  );
}
