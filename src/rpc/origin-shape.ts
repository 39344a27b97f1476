import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { OriginMinuteSchema, OriginSchema } from '../../gen/gleaner/operator/v1/operator_pb.ts';
import type { Origins } from '../base/origins.ts';
import { originPolicy } from '../fetch/policy.ts';
import { policyOfMarket } from '../markets/defaults.ts';
import type { OriginMinute } from '../store/operations.ts';
import { noPause, type OriginPause } from '../store/origin-state.ts';

/** What is known of origins. */
export interface OriginsKnown {
  /** As they are configured. */
  origins: Origins;
  pauses: readonly (OriginPause & { origin: string })[];
  /** What was lately asked of them, oldest first. */
  minutes: readonly OriginMinute[];
}

/** An origin as one market asks it for one region. */
interface Place {
  origin: string;
  market: string;
  region: string;
}

/**
 * Every origin that is configured, was lately asked, or refused or failed, by name, market and region. One
 * that several markets or regions share is there for each of them.
 */
export function originShapes(known: OriginsKnown): MessageInitShape<typeof OriginSchema>[] {
  const configured = [...known.origins].flatMap(([market, { addresses }]) =>
    [...addresses].map(([region, origin]): Place => ({ origin, market, region })),
  );
  const asked = [...configured, ...known.minutes];
  const places = new Map(asked.map((place) => [keyOf(place), place]));
  const placed = new Set(asked.map(({ origin }) => origin));
  for (const { origin } of known.pauses) {
    const place = { origin, market: '', region: '' };
    if (!placed.has(origin)) places.set(keyOf(place), place);
  }
  const pauses = new Map(known.pauses.map((pause) => [pause.origin, pause]));
  const minutes = Map.groupBy(known.minutes, keyOf);
  return [...places]
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([key, { origin, market, region }]) => ({
      origin,
      market,
      region,
      ...pauseShape(pauses.get(origin) ?? noPause),
      ...limitsOf(market, known.origins),
      minutes: (minutes.get(key) ?? []).map(minuteShape),
    }));
}

const keyOf = ({ origin, market, region }: Place): string => [origin, market, region].join('\n');

function limitsOf(market: string, origins: Origins) {
  if (market === '') return {};
  const { concurrency, requestsPerSecond } = originPolicy(policyOfMarket(market), origins.get(market));
  return { concurrency, requestsPerSecond };
}

function pauseShape({ until, reason, failures, since, probing }: OriginPause) {
  if (failures === 0) return {};
  return {
    reason,
    strikes: failures,
    probing,
    pausedUntil: timestampFromMs(until),
    since: timestampFromMs(since),
  };
}

function minuteShape(row: OriginMinute): MessageInitShape<typeof OriginMinuteSchema> {
  const { minute, requests, refused, failed, milliseconds } = row;
  return {
    at: timestampFromMs(minute),
    requests,
    refused,
    failed,
    milliseconds: requests === 0 ? 0 : milliseconds / requests,
  };
}
