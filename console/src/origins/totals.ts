import type { Origin, OriginMinute } from '../../../gen/gleaner/operator/v1/operator_pb.ts';

/** Sums over minutes: shares from 0 to 1, the mean time in ms, weighed by requests; 0 without requests. */
export function totalsOf(
  minutes: readonly Pick<OriginMinute, 'requests' | 'refused' | 'failed' | 'milliseconds'>[],
) {
  const sum = (value: (minute: (typeof minutes)[number]) => number) =>
    minutes.reduce((total, minute) => total + value(minute), 0);
  const requests = sum((minute) => minute.requests);
  const share = (part: number) => (requests === 0 ? 0 : part / requests);
  return {
    requests,
    refusedShare: share(sum(({ refused }) => refused)),
    failedShare: share(sum(({ failed }) => failed)),
    milliseconds: share(sum(({ requests, milliseconds }) => requests * milliseconds)),
  };
}

/** Origins in the order of their need for attention: those left alone first, then those asked most. */
export function byNeed(origins: readonly Origin[]): Origin[] {
  const rank = ({ pausedUntil, minutes }: Origin) =>
    pausedUntil ? Number.POSITIVE_INFINITY : totalsOf(minutes).requests;
  return origins.toSorted(
    (one, other) =>
      Number(rank(one) < rank(other)) - Number(rank(one) > rank(other)) ||
      one.origin.localeCompare(other.origin),
  );
}
