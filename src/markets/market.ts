import type { Json, JsonObject } from '../base/json.ts';
import type { MarketLimits } from '../fetch/limits.ts';
import type { FetchPage, PageAnswer } from '../fetch/page.ts';
import type { OriginPolicy } from '../fetch/policy.ts';
import type { IdForm } from './id-form.ts';
import type { MarketSamples } from './sample.ts';

/** What a reader is told beside the unit: where and when. */
export interface ReadContext {
  /** Region of the unit; '' for markets without. */
  region: string;
  /** Gets a page from the market's origin of that region. */
  fetch: FetchPage;
}

/**
 * Reads pages of one record each: a product page. `extract` is pure: the tests and the samples run
 * it on a captured answer. Faults: `page_not_found`, `page_private`, `page_region`,
 * `page_blocked`, `page_login`, `page_throttled`, `page_empty`, `page_unreadable`, `page_mismatch`,
 * `page_failed`, and those of the fetch.
 */
export interface RecordReader {
  readonly sort: 'record';
  /** Fetches what the unit's record needs and makes the record. */
  read(input: JsonObject, context: ReadContext): Promise<JsonObject>;
  /** Makes the record of the main page's answer alone. */
  extract(answer: PageAnswer, input: JsonObject, region: string): JsonObject;
  /** Whether a record shows all that its page can show; one that does not is not kept for later jobs.
   *  Absent: every record does. */
  readonly isWhole?: (record: JsonObject) => boolean;
}

/** What one page of a listing came to. */
export interface ListPage {
  /** Which of the result's lists the entries belong to: "items", "products", "rcmd_items". */
  list: string;
  /** Given away: emptied when the next page is asked for, so that a listing takes the memory of one page. */
  entries: JsonObject[];
}

/** What is known once a listing has ended, under the names of the result file. */
export type ListSummary = Record<string, Json>;

/** Reads listings: searches, categories, shops, catalogues. Faults as RecordReader. */
export interface ListReader {
  readonly sort: 'list';
  /** Yields the listing's pages in order, without entries already yielded, within the unit's
   *  limits, and returns the summary. Lists come one after the other, never interleaved. */
  read(input: JsonObject, context: ReadContext): AsyncGenerator<ListPage, ListSummary, void>;
  /** Makes the entries of one page's answer alone, as `read` would yield them. */
  extract(answer: PageAnswer, input: JsonObject, region: string): JsonObject[];
}

/** A reader of one sort of page. */
export type Reader = RecordReader | ListReader;

/** Sorts of pages: what a kind asks a market for. */
export type PageName = 'product' | 'variants' | 'search' | 'merchant';

/** Listed fields of the records of each page, in the notation of fieldsOf(). */
export type ListedFields = Readonly<Partial<Record<PageName, string>>>;

/** Forms of ids of each page. */
export type IdForms = Readonly<Partial<Record<PageName, IdForm>>>;

/** One marketplace: how a site is read. It knows no kind, no job and no other market. */
export interface Market {
  /** Path word: "mkta". */
  readonly name: string;
  /** Region codes; empty for a market that is not region based. */
  readonly regions: readonly string[];
  readonly readers: Partial<Record<PageName, Reader>>;
  /** What its site may send and take for one unit, where that is not the default. */
  readonly listedFields: ListedFields;
  readonly ids: IdForms;
  readonly samples: MarketSamples;
  /** Request policy of its origins, where it is not the default. */
  readonly policy?: Partial<OriginPolicy>;
  /** Credits per unit of a page, where they are not the kind's (interface, "Credit costs"). */
  readonly prices?: Readonly<Partial<Record<PageName, number>>>;
  readonly limits?: Partial<MarketLimits>;
  /** Reads a URL as submitted into a reader's input and region (decisions, "mkta URLs"). Throws a
   *  plain Error whose message says what is wrong with the URL. Absent where no kind takes URLs. */
  readonly parseUrl?: (page: PageName, url: string) => { input: JsonObject; region: string; type: string };
  /** What is wrong with a reader's input as submitted where the contract's rules can't say it: the field and the
   *  words; null for nothing. Absent: they say it all. */
  readonly problemOf?: (input: JsonObject) => { name: string; msg: string } | null;
}
