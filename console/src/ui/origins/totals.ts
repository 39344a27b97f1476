import type { OriginMinute } from '../../../../gen/gleaner/operator/v1/operator_pb.ts';

/**
 * Sums minutes: shares from 0 to 1 and the mean latency in milliseconds; all 0 without requests.
 */
export function summarizeMinutes(
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

/** State of an origin: `ready` means that its pause is over and the next request is a trial. */
export type OriginState = 'unused' | 'ok' | 'paused' | 'trial' | 'ready';

/** Values that determine the state of an origin. */
export interface OriginActivity {
  /** End of the pause in milliseconds since the epoch; absent without a pause. */
  pausedUntilMs: number | undefined;
  /** Whether a trial request is under way. */
  probing: boolean;
  /** Recent requests. */
  minutes: readonly { requests: number }[];
}

export function originState(
  { pausedUntilMs, probing, minutes }: OriginActivity,
  nowMs: number,
): OriginState {
  if (pausedUntilMs === undefined)
    return minutes.some(({ requests }) => requests > 0) ? 'ok' : 'unused';
  if (probing) return 'trial';
  return pausedUntilMs > nowMs ? 'paused' : 'ready';
}
