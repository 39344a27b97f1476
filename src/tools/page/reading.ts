import type { JsonObject } from '../../base/json.ts';
import { Fault } from '../../contract/fault.ts';
import type { FetchPage, PageRequest, PageResponse } from '../../fetch/page.ts';
import { compileFields, createRecordCheck, missingShares } from '../../quality/record-schema.ts';
import type { Target } from './target.ts';

/** A request of a reader and its response. */
export interface FetchedPage {
  request: PageRequest;
  response: PageResponse;
}

export interface PageReading {
  /** The record, or the entries of a listing's first page; empty with a fault. */
  records: JsonObject[];
  fault: Fault | null;
}

/** Result of reading a page from its site. */
export interface FetchedReading extends PageReading {
  /** Every page that the reader fetched, in order. */
  fetched: FetchedPage[];
  /** The page that contains the records. Null if the site sent none. */
  main: FetchedPage | null;
}

/**
 * Reads a page as a worker does, but only the first page of a listing. The result's fault describes
 * errors.
 */
export async function readPage(
  { reader, input, region }: Target,
  fetch: FetchPage,
): Promise<FetchedReading> {
  const fetched: FetchedPage[] = [];
  const recording: FetchPage = async (request) => {
    const response = await fetch(request);
    fetched.push({ request, response });
    return response;
  };
  try {
    if (reader.sort === 'record') {
      const record = await reader.read(input, { region, fetch: recording });
      return {
        records: [record],
        fault: null,
        fetched,
        main: fetched[0] ?? null,
      };
    }
    const pages = reader.read(input, { region, fetch: recording });
    const { value, done } = await pages.next();
    const main = fetched.at(-1) ?? null;
    if (done)
      return {
        records: [],
        fault: null,
        fetched,
        main,
      };
    await pages.return({ has_more: true });
    return {
      records: value.entries,
      fault: null,
      fetched,
      main,
    };
  } catch (thrown) {
    return {
      records: [],
      fault: Fault.from(thrown),
      fetched,
      main: fetched.at(-1) ?? null,
    };
  }
}

/** Reads a saved page. The result's fault describes errors. */
export function extractPage(
  { reader, input, region }: Target,
  response: PageResponse,
): PageReading {
  try {
    if (reader.sort === 'list')
      return { records: reader.extract(response, input, region), fault: null };
    return { records: [reader.extract(response, input, region)], fault: null };
  } catch (thrown) {
    return { records: [], fault: Fault.from(thrown) };
  }
}

/** A listed field that is missing from some or all of the records. */
export interface Missing {
  path: string;
  /** Share of places without the field, above 0 and at most 1. */
  share: number;
}

/**
 * Returns the number of listed fields of a page, and the fields that are missing from the records.
 */
export function missingOf(
  { market, page }: Target,
  records: readonly JsonObject[],
): { of: number; missing: Missing[] } {
  const fields = compileFields(market.listedFields[page] ?? {});
  const shares = missingShares(createRecordCheck(fields), records);
  const missing = fields.flatMap(({ path }, index) => {
    const share = shares[index] ?? 0;
    return share > 0 ? [{ path, share }] : [];
  });
  return { of: fields.length, missing };
}
