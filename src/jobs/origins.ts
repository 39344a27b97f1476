import { originPolicy } from '../fetch/policy.ts';
import type { Plan } from '../kinds/kind.ts';
import type { Market } from '../markets/market.ts';
import type { OriginMinute } from '../store/operations.ts';
import type { JobContext } from './context.ts';
import type { ResolvedJobType } from './job-types.ts';

/** Units of a plan that are read from one origin. */
export interface PlannedOrigin {
  /** Scheme, host, and port. */
  origin: string;
  /** Empty for a store that a caller names. */
  region: string;
  units: number;
}

/** Duration of a request, in milliseconds, if the origin had none in the last hour. */
const defaultRequestMs = 1_000;

/**
 * Groups the units of a plan by origin. Skips units without a configured origin, which fail
 * immediately.
 */
export function plannedOrigins(
  { settings }: JobContext,
  { market }: Pick<ResolvedJobType, 'market'>,
  { groups }: Pick<Plan, 'groups'>,
): PlannedOrigin[] {
  const addresses = settings.origins.get(market.name)?.addresses;
  const origins = new Map<string, PlannedOrigin>();
  for (const { region, units } of groups) {
    for (const { input } of units) {
      const origin = addresses?.get(region) ?? namedOrigin(market, input.url);
      if (origin === null) continue;
      const key = `${origin}\n${region}`;
      const planned = origins.get(key);
      if (planned) planned.units += 1;
      else origins.set(key, { origin, region, units: 1 });
    }
  }
  return [...origins.values()];
}

/** Returns the origin of a store that a caller names by a URL, otherwise null. */
function namedOrigin({ hasNamedOrigins }: Market, url: unknown): string | null {
  if (!hasNamedOrigins || typeof url !== 'string' || !URL.canParse(url)) return null;
  return new URL(url).origin;
}

/**
 * Estimates the seconds that a plan's units take at the limits of their origins, without other
 * work. Origins are read at the same time; each takes its number of requests divided by its rate,
 * which is the lower of its requests per second and its concurrency divided by the mean duration of
 * a request in the last hour.
 */
export function estimateSeconds(
  { settings }: JobContext,
  { market, reader }: Pick<ResolvedJobType, 'market' | 'reader'>,
  origins: readonly PlannedOrigin[],
  minutes: readonly OriginMinute[],
): number {
  const perUnit = reader.sort === 'record' ? (reader.requestsPerUnit ?? 1) : 1;
  let longest = 0;
  // Regions may share an origin, and then share its limits.
  const configured = settings.origins.get(market.name);
  for (const [origin, planned] of Map.groupBy(origins, (each) => each.origin)) {
    const units = planned.reduce((sum, { units }) => sum + units, 0);
    const requests = perUnit * units;
    const declared = { ...market.policy, ...market.regionPolicy?.(planned[0]!.region) };
    const { requestsPerSecond, concurrency } = originPolicy(declared, configured);
    const requestMs = meanRequestMs(minutes.filter((minute) => minute.origin === origin));
    const rate = Math.min(requestsPerSecond, (1000 * concurrency) / requestMs);
    longest = Math.max(longest, requests / rate, requestMs / 1000);
  }
  return Math.ceil(longest);
}

function meanRequestMs(minutes: readonly OriginMinute[]): number {
  const requests = minutes.reduce((sum, minute) => sum + minute.requests, 0);
  const total = minutes.reduce((sum, { milliseconds }) => sum + milliseconds, 0);
  return requests === 0 ? defaultRequestMs : Math.max(1, total / requests);
}

/** Places that a warning or a log entry names. */
const maxNamed = 10;

/**
 * Returns a warning for the caller of a submission if planned regions have no configured origin:
 * their units fail immediately and are refunded. Null if every unit has an origin. Reads no store,
 * so that it cannot fail a submission.
 */
export function missingOriginWarning(
  { settings }: JobContext,
  { name, hasNamedOrigins }: Pick<Market, 'name' | 'hasNamedOrigins'>,
  { groups }: Pick<Plan, 'groups'>,
): string | null {
  // Stores named by the submitted URLs need no configured origin.
  if (hasNamedOrigins) return null;
  const addresses = settings.origins.get(name)?.addresses;
  const planned = new Set(groups.map(({ region }) => region));
  const missing = [...planned].filter((region) => !addresses?.has(region));
  if (missing.length === 0) return null;
  const places = listed(missing.map((region) => placeOf(name, region)));
  const problem = `No origin is configured for ${places}. These units fail and are refunded.`;
  return `${problem} Ask an operator to add it to the origins file.`;
}

/**
 * Logs the offered markets and regions that have no configured origin. Called when the service
 * starts.
 */
export function logMissingOrigins({ jobTypes, settings, log }: JobContext): void {
  const markets = new Set([...jobTypes.methods.values()].map(({ market }) => market));
  const missing = [...markets].flatMap(({ name, regions, hasNamedOrigins }) => {
    const addresses = settings.origins.get(name)?.addresses;
    // A market without an entry is named once. An address without a region serves all regions of a
    // market.
    if (hasNamedOrigins || addresses?.has('')) return [];
    if (addresses === undefined || addresses.size === 0) return [name];
    return regions
      .filter((region) => !addresses.has(region))
      .map((region) => placeOf(name, region));
  });
  if (missing.length > 0)
    log.warn({ missing }, 'origins missing: units of these markets fail; see docs/fetching.md');
}

const placeOf = (market: string, region: string) =>
  region === '' ? market : `${market}/${region}`;

function listed(places: readonly string[]): string {
  const more = places.length - maxNamed;
  return places.slice(0, maxNamed).join(', ') + (more > 0 ? ` and ${more} more` : '');
}
