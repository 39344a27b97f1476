import type { Plan } from '../../kinds/kind.ts';
import type { Market } from '../../markets/market.ts';
import type { JobContext } from '../context.ts';
import type { Offers } from '../offers.ts';

/** Places that a warning or a log entry names. */
const maxNamed = 10;

/**
 * Returns a warning for the caller of a submit if planned regions have no configured origin: their units fail at once
 * and are refunded. Null if every unit has an origin. Reads no store, so that it cannot fail a submit.
 */
export function missingOriginWarning(
  { settings }: Pick<JobContext, 'settings'>,
  { name, regions }: Pick<Market, 'name' | 'regions'>,
  { groups }: Pick<Plan, 'groups'>,
): string | null {
  // Stores named by the submitted URLs need no configured origin.
  if (regions.length === 0) return null;
  const addresses = settings.origins.get(name)?.addresses;
  const planned = new Set(groups.map(({ region }) => region));
  const missing = [...planned].filter((region) => !addresses?.has(region));
  if (missing.length === 0) return null;
  const places = listed(missing.map((region) => placeOf(name, region)));
  return `No origin is configured for ${places}. These units fail and are refunded. Ask an operator to add it to the origins file.`;
}

/** Logs the markets and regions on offer that have no configured origin. Called when the service starts. */
export function logMissingOrigins({
  offers,
  settings,
  log,
}: {
  offers: Pick<Offers, 'methods'>;
  settings: Pick<JobContext['settings'], 'origins'>;
  log: Pick<JobContext['log'], 'warn'>;
}): void {
  const markets = new Set([...offers.methods.values()].map(({ market }) => market));
  const missing = [...markets].flatMap(({ name, regions }) => {
    const addresses = settings.origins.get(name)?.addresses;
    // A market without an entry is named once. An address without a region serves all regions of a market.
    if (regions.length === 0 || addresses?.has('')) return [];
    if (addresses === undefined || addresses.size === 0) return [name];
    return regions.filter((region) => !addresses.has(region)).map((region) => placeOf(name, region));
  });
  if (missing.length > 0)
    log.warn(
      { missing },
      'origins missing: units of these markets fail; see GLEANER_ORIGINS in docs/operate.md',
    );
}

const placeOf = (market: string, region: string) => (region === '' ? market : `${market}/${region}`);

function listed(places: readonly string[]): string {
  const more = places.length - maxNamed;
  return places.slice(0, maxNamed).join(', ') + (more > 0 ? ` and ${more} more` : '');
}
