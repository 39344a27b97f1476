import type { JsonObject } from '../../base/json.ts';
import { type Column, topColumn } from '../../formats/columns.ts';
import type { ExactJson, ExactObject } from '../../formats/json-text.ts';
import type { PictureSize } from '../../markets/market.ts';
import type { ItemReading } from '../../markets/tracked.ts';
import type { Job } from '../../store/documents.ts';
import type { JobContext } from '../context.ts';
import type { ResolvedJobType } from '../job-types.ts';
import { type Entry, hasRecord, type RecordEntry, rowColumnsOf, rowsIn } from './rows.ts';

/**
 * Values of a record under the names that all markets share. Absent if the record does not state
 * them.
 */
export type ItemValues = Partial<ItemReading> & RecordLinks;

/** Returns the values of a record's item, or nothing if the record is not about one. */
export function readingOf(
  { market, kind }: ResolvedJobType,
  record: ExactObject,
): Partial<ItemReading> {
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
  const pageOrigin = () => {
    const configuredOrigin = settings.origins.get(market.name)?.addresses.get(region);
    if (configuredOrigin !== undefined) return configuredOrigin;
    return market.hasNamedOrigins ? originOf(unit.unit.key) : null;
  };
  const origin = isTest ? null : pageOrigin();
  const path = market.pagePath?.(record as unknown as JsonObject) ?? '';
  const links = recordLinks(record, {
    origin,
    pictureUrl: (id) => (isTest ? null : (market.pictureUrl?.(id, region, pictures) ?? null)),
  });
  const values = readingOf(jobType, record);
  return {
    ...values,
    url: (pageUrl(origin, path) ?? links.url)?.toWellFormed() ?? null,
    image: (values.details?.image ?? links.image)?.toWellFormed() ?? null,
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

/** Absolute path, without a host. */
const pathForm = /^\/(?!\/)[^\s\\]{0,2000}$/;
const imageName = /image|img|thumb|picture|photo/i;
const urlName = /^(?:url|link|page_?url|product_?url)$/i;
const absoluteUrl = /^https?:\/\/[^\s]{4,2000}$/i;
/** Maximum values of a record that are examined. */
const maxValues = 2_000;
/** Maximum elements of an array that are examined. */
const maxElements = 20;

/** Parts that a market adds to the addresses in its records. */
export interface LinkHints {
  /** Origin of the pages, which completes addresses without a host. Null if it is not known. */
  origin?: string | null;
  /** Returns the address of a picture that is named by an id. */
  pictureUrl?: (id: string) => string | null;
}

/**
 * Finds the first addresses of a record by the names of its members, because markets use different
 * names and not every page has addresses.
 */
export function recordLinks(
  record: ExactObject,
  { origin = null, pictureUrl = () => null }: LinkHints = {},
): RecordLinks {
  const links: RecordLinks = { url: null, image: null };
  // Breadth first: addresses of the item are less deep than addresses of its variants and seller.
  const members: NamedValue[] = Object.entries(record);
  const addLink = (name: string, value: string) => {
    const isAbsolute = absoluteUrl.test(value);
    if (imageName.test(name)) links.image ??= isAbsolute ? value : pictureUrl(value);
    else if (urlName.test(name)) links.url ??= isAbsolute ? value : pageUrl(origin, value);
  };
  for (let index = 0; index < members.length && index < maxValues; index++) {
    if (links.url && links.image) break;
    const [name, value] = members[index]!;
    if (typeof value === 'string') addLink(name, value);
    else for (const part of namedParts(name, value)) members.push(part);
  }
  return links;
}

/** A value in a record, with the name by which it may be an address. */
type NamedValue = [name: string, value: ExactJson];

/** Returns the elements of an array under its name, or the members of an object. */
function namedParts(name: string, value: ExactJson): NamedValue[] {
  if (Array.isArray(value)) return value.slice(0, maxElements).map((element) => [name, element]);
  if (typeof value !== 'object' || value === null) return [];
  // `image: {url: …}`: the address of a picture, not of the page.
  const prefix = imageName.test(name) ? `${name}.` : '';
  return Object.entries(value).map(([member, inner]) => [`${prefix}${member}`, inner]);
}

/**
 * Returns the address of a page by its path. Null without an origin, or if the text is not a path.
 */
function pageUrl(origin: string | null, path: string): string | null {
  if (origin === null || !pathForm.test(path)) return null;
  const url = URL.parse(path, origin);
  if (url === null) return null;
  return url.origin === new URL(origin).origin ? url.href : null;
}

/**
 * Columns of a table of records: those of their marketplace and kind (''), or the standard ones.
 */
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
  if (choice === 'standard')
    return { columns: standardColumns, rows: standardRows(context, job, entries) };
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
    const readAt = outcome?.status === 'SUCCESS' ? outcome.readAt : undefined;
    yield {
      ...standardValues(itemValues(context, job, entry, 'full')),
      collected_at: readAt === undefined ? null : new Date(readAt).toISOString(),
    };
  }
}

/** Returns the values of an item by the names of the standard columns. */
function standardValues({ details, ...item }: ItemValues): ExactObject {
  return {
    id: item.key ?? null,
    url: item.url,
    title: item.title ?? null,
    brand: details?.brand ?? null,
    price: item.price ?? null,
    currency: item.currency ?? null,
    list_price: details?.listPrice ?? null,
    availability: availabilityOf(item.available),
    rating: item.rating ?? null,
    reviews: details?.reviews ?? null,
    seller: details?.seller ?? null,
    image: item.image,
  };
}

function availabilityOf(available: boolean | null | undefined): string | null {
  if (available == null) return null;
  return available ? 'in_stock' : 'out_of_stock';
}
