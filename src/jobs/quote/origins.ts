import { originPolicy } from '../../fetch/policy.ts';
import type { Plan } from '../../kinds/kind.ts';
import type { OriginMinute } from '../../store/operations.ts';
import type { JobContext } from '../context.ts';
import type { Offer } from '../offers.ts';

/** Units of a plan that are read from one origin. */
export interface PlannedOrigin {
  /** Scheme, host, and port. */
  origin: string;
  /** '' for a store that a caller names. */
  region: string;
  units: number;
}

/** Duration of a request, in milliseconds, if the origin had none in the last hour. */
const defaultRequestMs = 1_000;

/** Groups the units of a plan by origin. Units without a configured origin, which fail at once, are left out. */
export function plannedOrigins(
  { settings }: Pick<JobContext, 'settings'>,
  { market }: Pick<Offer, 'market'>,
  { groups }: Pick<Plan, 'groups'>,
): PlannedOrigin[] {
  const addresses = settings.origins.get(market.name)?.addresses;
  const origins = new Map<string, PlannedOrigin>();
  for (const { region, units } of groups) {
    for (const { input } of units) {
      const origin = addresses?.get(region) ?? (market.regions.length === 0 ? storeOf(input.url) : null);
      if (origin === null) continue;
      const key = `${origin}\n${region}`;
      const known = origins.get(key);
      if (known) known.units += 1;
      else origins.set(key, { origin, region, units: 1 });
    }
  }
  return [...origins.values()];
}

/** Returns the origin of a store that a caller names by a URL, else null. */
function storeOf(url: unknown): string | null {
  return typeof url === 'string' && URL.canParse(url) ? new URL(url).origin : null;
}

/**
 * Estimates the seconds that a plan's units take at the limits of their origins, without other work. Origins are read
 * at the same time; each takes its number of requests divided by its rate, which is the lower of its requests per
 * second and its concurrency divided by the mean duration of a request in the last hour.
 */
export function estimateSeconds(
  { settings }: Pick<JobContext, 'settings'>,
  { market, reader }: Pick<Offer, 'market' | 'reader'>,
  origins: readonly PlannedOrigin[],
  minutes: readonly OriginMinute[],
): number {
  const { requestsPerSecond, concurrency } = originPolicy(
    market.policy ?? {},
    settings.origins.get(market.name),
  );
  const perUnit = reader.sort === 'record' ? (reader.requestsPerUnit ?? 1) : 1;
  let longest = 0;
  // Regions may share an origin, and then share its limits.
  for (const [origin, planned] of Map.groupBy(origins, (each) => each.origin)) {
    const requests = perUnit * planned.reduce((sum, { units }) => sum + units, 0);
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
