import type { JsonObject } from '../../base/json.ts';
import { type Column, topColumn } from '../../formats/columns.ts';
import type { ExactJson, ExactObject } from '../../formats/json-text.ts';
import type { PictureSize } from '../../markets/market.ts';
import type { ItemReading } from '../../markets/tracked.ts';
import type { Job } from '../../store/documents.ts';
import type { JobContext } from '../context.ts';
import type { ResolvedJobType } from '../job-types.ts';
import { type Entry, hasRecord, type RecordEntry, rowColumnsOf, rowsIn } from './rows.ts';

/** Values of a record under common names, as far as it states them. */
export type ItemValues = Partial<ItemReading> & RecordLinks;

/** Returns the values of a record's item, or nothing if the record is not about one. */
export function readingOf({ market, kind }: ResolvedJobType, record: ExactObject): Partial<ItemReading> {
  // Integers beyond 2^53 are no prices or counts; readers take them for missing.
  return market.tracked?.[kind.page]?.(record as unknown as JsonObject) ?? {};
}

/** Returns the values of a record under common names, and the addresses of its page and picture. */
export function itemValues(
  { jobTypes, settings }: JobContext,
  job: Job,
  { unit, record }: Pick<RecordEntry, 'unit' | 'record'>,
  pictures: PictureSize,
): ItemValues {
  const jobType = jobTypes.of(job);
  const { market } = jobType;
  const { region } = unit;
  // Ids of the sandbox differ from the site's.
  const isTest = job.mode === 'test';
  const known = settings.origins.get(market.name)?.addresses.get(region);
  const origin = isTest ? null : (known ?? (market.hasNamedOrigins ? originOf(unit.unit.key) : null));
  const path = market.pagePath?.(record as unknown as JsonObject) ?? '';
  const links = recordLinks(record, {
    origin,
    pictureUrl: (id) => (isTest ? null : (market.pictureUrl?.(id, region, pictures) ?? null)),
  });
  const reading = readingOf(jobType, record);
  return {
    ...reading,
    url: (pageUrl(origin, path) ?? links.url)?.toWellFormed() ?? null,
    image: (reading.details?.image ?? links.image)?.toWellFormed() ?? null,
  };
}

/** Returns the origin of an address, or null for other text. */
function originOf(key: string): string | null {
  return /^https?:/i.test(key) ? (URL.parse(key)?.origin ?? null) : null;
}

/** Addresses of a record: of its page, and of its first picture. */
export interface RecordLinks {
  url: string | null;
  image: string | null;
}

const imageName = /image|img|thumb|picture|photo/i;
const urlName = /^(?:url|link|page_?url|product_?url)$/i;
/** Maximum values of a record that are examined. */
const maxValues = 2_000;

/** Parts that a market adds to the addresses in its records. */
export interface LinkHints {
  /** Origin of the pages, which completes addresses without a host. Null if it is not known. */
  origin?: string | null;
  /** Returns the address of a picture that is named by an id. */
  pictureUrl?: (id: string) => string | null;
}

/**
 * Returns the first addresses of a record by the names of its members: markets name them differently, and not
 * every page has them.
 */
export function recordLinks(
  record: ExactObject,
  { origin = null, pictureUrl = () => null }: LinkHints = {},
): RecordLinks {
  const found: RecordLinks = { url: null, image: null };
  // Breadth first: the addresses of the item are above those of its variants and its seller.
  const open: [name: string, value: ExactJson][] = Object.entries(record);
  for (let at = 0; at < open.length && at < maxValues && (!found.url || !found.image); at++) {
    const [name, value] = open[at]!;
    if (typeof value === 'string') {
      const isUrl = /^https?:\/\/[^\s]{4,2000}$/i.test(value);
      if (imageName.test(name)) found.image ??= isUrl ? value : pictureUrl(value);
      else if (urlName.test(name)) found.url ??= isUrl ? value : pageUrl(origin, value);
    } else if (Array.isArray(value)) {
      for (const element of value.slice(0, 20)) open.push([name, element]);
    } else if (typeof value === 'object' && value !== null) {
      const inImage = imageName.test(name);
      // `image: {url: …}`: the address of a picture, not of the page.
      for (const [member, inner] of Object.entries(value))
        open.push([inImage ? `${name}.${member}` : member, inner]);
    }
  }
  return found;
}

/** Returns the address of a page by its path, or null for text that is no path, and without an origin. */
function pageUrl(origin: string | null, path: string): string | null {
  if (origin === null || !/^\/(?!\/)[^\s\\]{0,2000}$/.test(path) || !URL.canParse(path, origin)) return null;
  const url = new URL(path, origin);
  return url.origin === new URL(origin).origin ? url.href : null;
}

/** Columns of a table of records: those of their marketplace and kind (''), or the standard ones. */
export type ColumnChoice = '' | 'standard';

/** Values of the parameter `columns`. */
export const columnChoices = ['standard'] as const;

export interface RecordTable {
  columns: readonly Column[];
  rows: AsyncIterable<ExactObject>;
}

/** Columns that the records of every kind and marketplace have in common. */
export const standardColumns: readonly Column[] = [
  topColumn('id', 'string'),
  topColumn('url', 'string'),
  topColumn('title', 'string'),
  topColumn('brand', 'string'),
  topColumn('price', 'number'),
  topColumn('currency', 'string'),
  topColumn('list_price', 'number'),
  topColumn('availability', 'string'),
  topColumn('rating', 'number'),
  topColumn('reviews', 'integer'),
  topColumn('seller', 'string'),
  topColumn('image', 'string'),
  topColumn('collected_at', 'timestamp'),
];

/** Returns the table of a job's entries with the chosen columns. */
export function tableOf(
  context: JobContext,
  job: Job,
  entries: AsyncIterable<Entry>,
  choice: ColumnChoice,
): RecordTable {
  if (choice === 'standard') return { columns: standardColumns, rows: standardRows(context, job, entries) };
  return { columns: rowColumnsOf(context.jobTypes.of(job)), rows: rowsIn(entries) };
}

async function* standardRows(
  context: JobContext,
  job: Job,
  entries: AsyncIterable<Entry>,
): AsyncGenerator<ExactObject> {
  for await (const entry of entries) {
    if (!hasRecord(entry)) continue;
    const { outcome } = entry.unit;
    const { key, title, price, currency, available, rating, details, url, image } = itemValues(
      context,
      job,
      entry,
      'full',
    );
    const readAt = outcome?.status === 'SUCCESS' ? outcome.readAt : undefined;
    yield {
      id: key ?? null,
      url,
      title: title ?? null,
      brand: details?.brand ?? null,
      price: price ?? null,
      currency: currency ?? null,
      list_price: details?.listPrice ?? null,
      availability: available == null ? null : available ? 'in_stock' : 'out_of_stock',
      rating: rating ?? null,
      reviews: details?.reviews ?? null,
      seller: details?.seller ?? null,
      image,
      collected_at: readAt === undefined ? null : new Date(readAt).toISOString(),
    };
  }
}
