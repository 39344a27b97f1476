import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import {
  OriginMinuteSchema,
  type OriginSchema,
} from '../../../gen/gleaner/operator/v1/operator_pb.ts';
import { type Clock, timeOfDay } from '../../base/clock.ts';
import type { Origins } from '../../base/origins.ts';
import { originPolicy } from '../../fetch/policy.ts';
import type { RequestTarget } from '../../fetch/request-observer.ts';
import { policyOfMarket } from '../../markets/lookup.ts';
import type { OriginMinute } from '../../store/operations.ts';
import { noPause, type OriginPause } from '../../store/origin-state.ts';
import { toMessage } from './to-message.ts';

/** Data about origins. */
export interface OriginsKnown {
  /** Configured origins. */
  origins: Origins;
  pauses: readonly (OriginPause & { origin: string })[];
  /** Recent request counts, oldest first. */
  minutes: readonly OriginMinute[];
  /** Clock of the pauses' times. */
  clock: Clock;
}

/**
 * Returns the message Origin of each origin that is configured, was recently requested, or is
 * paused, ordered by name, market and region. An origin that several markets or regions share is
 * listed for each of them.
 */
export function originShapes(originStates: OriginsKnown): MessageInitShape<typeof OriginSchema>[] {
  const configured = [...originStates.origins].flatMap(([market, { addresses }]) =>
    [...addresses].map(([region, origin]): RequestTarget => ({ origin, market, region })),
  );
  const requested = [...configured, ...originStates.minutes];
  const places = new Map(requested.map((originRow) => [keyOf(originRow), originRow]));
  const placed = new Set(requested.map(({ origin }) => origin));
  for (const { origin } of originStates.pauses) {
    const originRow = { origin, market: '', region: '' };
    if (!placed.has(origin)) places.set(keyOf(originRow), originRow);
  }
  const pauses = new Map(originStates.pauses.map((pause) => [pause.origin, pause]));
  const minutes = Map.groupBy(originStates.minutes, keyOf);
  return [...places]
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([key, { origin, market, region }]) => ({
      origin,
      market,
      region,
      ...toPauseMessage(originStates.clock, pauses.get(origin) ?? noPause),
      ...limitsOf(market, region, originStates.origins),
      minutes: (minutes.get(key) ?? []).map(toMinuteMessage),
    }));
}

const keyOf = ({ origin, market, region }: RequestTarget): string =>
  [origin, market, region].join('\n');

function limitsOf(market: string, region: string, origins: Origins) {
  if (market === '') return {};
  const policy = originPolicy(policyOfMarket(market, region), origins.get(market));
  const { concurrency, requestsPerSecond } = policy;
  return { concurrency, requestsPerSecond };
}

function toPauseMessage(clock: Clock, { until, reason, failures, since, probing }: OriginPause) {
  if (failures === 0) return {};
  return {
    reason,
    strikes: failures,
    probing,
    pausedUntil: timestampFromMs(timeOfDay(clock, until)),
    since: timestampFromMs(timeOfDay(clock, since)),
  };
}

const minuteOf = toMessage(OriginMinuteSchema);

function toMinuteMessage(row: OriginMinute): MessageInitShape<typeof OriginMinuteSchema> {
  const { minute: at, requests, milliseconds } = row;
  return minuteOf({ ...row, at, milliseconds: requests === 0 ? 0 : milliseconds / requests });
}
