import type { Json, JsonObject } from '../base/json.ts';
import type { MarketLimits } from '../fetch/limits.ts';
import type { FetchPage, PageResponse } from '../fetch/page.ts';
import type { OriginPolicy } from '../fetch/policy.ts';
import type { RecordFields } from '../quality/record-schema.ts';
import type { IdForm } from './id-form.ts';
import type { MarketSamples } from './sample.ts';
import type { ReadTracked } from './tracked.ts';

export interface ReadContext {
  /** Region of the unit. Empty for markets without regions. */
  region: string;
  /** Fetches a page from the market's origin in that region. */
  fetch: FetchPage;
  /** Takes the fields of a record for which its page states values that contradict each other. */
  reportContradictions?: (fields: readonly string[]) => void;
}

/**
 * Reader of pages with one record, such as product pages. `extract` is pure, so that tests and
 * samples can run it on a captured response. Throws `page_not_found`, `page_private`,
 * `page_region`, `page_blocked`, `page_login`, `page_throttled`, `page_empty`, `page_unreadable`,
 * `page_mismatch`, `page_failed`, and the faults of the fetch.
 */
export interface RecordReader {
  readonly sort: 'record';
  /** Requests that reading a unit takes, for estimates; 1 by default. */
  readonly requestsPerUnit?: number;
  /** Fetches the unit's pages and returns its record. */
  read(input: JsonObject, context: ReadContext): Promise<JsonObject>;
  /** Extracts the record from the response of the main page. */
  extract(response: PageResponse, input: JsonObject, region: string): JsonObject;
  /**
   * Returns true if a record is complete. Incomplete records are not cached for later jobs. Absent:
   * every record is complete.
   */
  readonly isComplete?: (record: JsonObject) => boolean;
}

/** Entries of one page of a listing. */
export interface ListPage {
  /** List of the result that the entries belong to: "items", "products", "rcmd_items". */
  list: string;
  /**
   * Owned by the consumer, and cleared when it requests the next page, so that a listing uses the
   * memory of one page.
   */
  entries: JsonObject[];
}

/** Values that are known at the end of a listing, by their names in the result file. */
export interface ListSummary {
  /**
   * True if the listing ended at a limit of the request, of the service or of the site, and the
   * site has further products (docs/pages.md).
   */
  has_more: boolean;
  [name: string]: Json;
}

/** Reader of listings: searches, categories, shops, catalogues. Faults as RecordReader. */
export interface ListReader {
  readonly sort: 'list';
  /**
   * Yields the pages of a listing in order, without duplicate entries and within the unit's limits,
   * and returns the summary. Lists follow one another and never interleave.
   */
  read(input: JsonObject, context: ReadContext): AsyncGenerator<ListPage, ListSummary, void>;
  /** Extracts the entries from the response of one page, as `read` would yield them. */
  extract(response: PageResponse, input: JsonObject, region: string): JsonObject[];
}

/** Reader of one page. */
export type Reader = RecordReader | ListReader;

/** Pages that markets have and kinds read. */
export type PageName = 'product' | 'variants' | 'search' | 'merchant';

/** Listed fields of the records of each page. */
export type ListedFields = Readonly<Partial<Record<PageName, RecordFields>>>;

/** Readers of the items whose history is kept, by page. */
export type TrackedPages = Readonly<Partial<Record<PageName, ReadTracked>>>;

/** Size of a picture: small for lists, or the largest that the market has. */
export type PictureSize = 'small' | 'full';

export type IdForms = Readonly<Partial<Record<PageName, IdForm>>>;

/**
 * A marketplace and the readers of its site. Markets are independent of kinds, jobs and other
 * markets.
 */
export interface Market {
  /** Name in paths: "mkta". */
  readonly name: string;
  /**
   * Region codes. Empty for a market without regions. They change with the declarations of
   * operators.
   */
  readonly regions: readonly string[];
  /**
   * True if units are read at the addresses in their input instead of origins of the origins file.
   */
  readonly hasNamedOrigins?: true;
  readonly readers: Partial<Record<PageName, Reader>>;
  /** Limits of its pages and units, if they differ from the defaults. */
  readonly listedFields: ListedFields;
  /**
   * Items of its records. Absent, or without a page: they have no history, and no standard columns.
   */
  readonly tracked?: TrackedPages;
  readonly ids: IdForms;
  readonly samples: MarketSamples;
  /** Request policy of its origins, if it differs from the default. */
  readonly policy?: Partial<OriginPolicy>;
  /**
   * Returns the policy of a region, if it differs from the market's. The same object until it
   * changes.
   */
  readonly regionPolicy?: (region: string) => Partial<OriginPolicy> | undefined;
  /** Credits per unit, by page type. Defaults to the kind's price. */
  readonly prices?: Readonly<Partial<Record<PageName, number>>>;
  readonly limits?: Partial<MarketLimits>;
  /**
   * Parses a submitted URL into a reader's input and region. Throws an Error that describes the
   * problem. Absent if no kind of the market takes URLs.
   */
  readonly parseUrl?: (
    page: PageName,
    url: string,
  ) => { input: JsonObject; region: string; type: string };
  /**
   * Returns the address of a picture that a record of the region names by its id, or null for text
   * that is no such id. Absent: records have addresses.
   */
  readonly pictureUrl?: (id: string, region: string, size: PictureSize) => string | null;
  /**
   * Returns the store of a unit by its key, for a market without regions whose stores are named by
   * addresses: the same id in two stores is two items. Absent: ids are unique in a region.
   */
  readonly storeOf?: (unitKey: string) => string;
  /**
   * Returns the path of the page of a record's item at the origin of its region, or for a market
   * without regions at that of the unit's address. For records without the address of the item.
   * Returns null if the record does not name the item. Absent: records have addresses.
   */
  readonly pagePath?: (record: JsonObject) => string | null;
  /**
   * Returns the problem of an input that the contract's rules cannot express: the field and a
   * message. Null for a valid input. Absent: the contract's rules are sufficient.
   */
  readonly problemOf?: (input: JsonObject, region: string) => { name: string; msg: string } | null;
}
