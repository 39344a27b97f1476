import type { Job } from '../store/documents.ts';
import type { JobContext } from './context.ts';
import type { Offers } from './offers.ts';

/** Places that a warning or a log entry names. */
const maxNamed = 10;

/**
 * Returns a warning for the caller of a submit if regions of the job have no configured origin: their units fail at
 * once and are refunded. Null if every unit has an origin.
 */
export async function missingOriginWarning(context: JobContext, job: Job): Promise<string | null> {
  const { market } = context.offers.of(job);
  // Stores named by the submitted URLs need no configured origin.
  if (market.regions.length === 0) return null;
  const addresses = context.settings.origins.get(market.name)?.addresses;
  if (market.regions.every((region) => addresses?.has(region))) return null;
  const regions = new Set((await context.store.listBatches(job.id)).map(({ region }) => region));
  const missing = [...regions].filter((region) => !addresses?.has(region));
  if (missing.length === 0) return null;
  const places = listed(missing.map((region) => placeOf(market.name, region)));
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
