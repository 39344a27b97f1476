import type { JsonObject } from '../../base/json.ts';
import type { ExactObject } from '../../formats/json-text.ts';
import type { PictureSize } from '../../markets/market.ts';
import type { ItemReading } from '../../markets/tracked.ts';
import type { Job } from '../../store/documents.ts';
import type { JobContext, JobSettings } from '../context.ts';
import type { ResolvedJobType } from '../job-types.ts';
import { pageUrl, type RecordLinks, recordLinks } from './record-links.ts';

/** Values of a record under common names, as far as it states them. */
export type ItemValues = Partial<ItemReading> & RecordLinks;

/** The parts of the context that itemValues() uses. */
export type ItemContext = Pick<JobContext, 'jobTypes'> & { settings: Pick<JobSettings, 'origins'> };

/** Returns the values of a row's item, or nothing if the row does not identify one. */
export function readingOf({ market, kind }: ResolvedJobType, row: ExactObject): Partial<ItemReading> {
  // Integers beyond 2^53 are no prices or counts; readers take them for missing.
  return market.tracked?.[kind.page]?.(row as unknown as JsonObject) ?? {};
}

/** Returns the values of a record under common names, and the addresses of its page and picture. */
export function itemValues(
  { jobTypes, settings }: ItemContext,
  job: Job,
  row: ExactObject,
  pictures: PictureSize,
): ItemValues {
  const jobType = jobTypes.of(job);
  const { market } = jobType;
  const region = String(row.unit_region);
  // Ids of the sandbox differ from the site's.
  const isTest = job.mode === 'test';
  const known = settings.origins.get(market.name)?.addresses.get(region);
  const origin = isTest ? null : (known ?? (market.hasNamedOrigins ? originOf(row.unit_key) : null));
  const path = market.pagePath?.(row as unknown as JsonObject) ?? '';
  const links = recordLinks(row, {
    origin,
    pictureUrl: (id) => (isTest ? null : (market.pictureUrl?.(id, region, pictures) ?? null)),
  });
  const reading = readingOf(jobType, row);
  return {
    ...reading,
    url: pageUrl(origin, path) ?? links.url,
    image: reading.details?.image ?? links.image,
  };
}

/** Returns the origin of an address, or null for other text. */
function originOf(key: ExactObject[string] | undefined): string | null {
  const url = typeof key === 'string' && /^https?:/i.test(key) && URL.canParse(key) ? new URL(key) : null;
  return url?.origin ?? null;
}
