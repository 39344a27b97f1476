import { Fault } from '../../base/fault.ts';
import type { JsonObject } from '../../base/json.ts';
import { fieldsOf, lackOf } from '../../base/record-shape.ts';
import type { FetchPage, PageAnswer, PageRequest } from '../../fetch/page.ts';
import type { Target } from './target.ts';

/** A page that came for a request. */
export interface Asked {
  request: PageRequest;
  answer: PageAnswer;
}

/** What a reader made of a page. */
export interface Look {
  /** The record alone, or the entries of a listing's first page; empty with a fault. */
  records: JsonObject[];
  fault: Fault | null;
}

/** A look at a page of the site. */
export interface FetchedLook extends Look {
  /** Every page that the reader asked for, in order. */
  asked: Asked[];
  /** The one that the records were made of; null where none came. */
  main: Asked | null;
}

/** Reads a page as a worker does; of a listing the first page only. What goes wrong is the look's fault. */
export async function fetchLook({ reader, input, region }: Target, fetch: FetchPage): Promise<FetchedLook> {
  const asked: Asked[] = [];
  const noting: FetchPage = async (request) => {
    const answer = await fetch(request);
    asked.push({ request, answer });
    return answer;
  };
  try {
    if (reader.sort === 'record') {
      const record = await reader.read(input, { region, fetch: noting });
      return { records: [record], fault: null, asked, main: asked[0] ?? null };
    }
    const pages = reader.read(input, { region, fetch: noting });
    const { value, done } = await pages.next();
    const main = asked.at(-1) ?? null;
    if (done) return { records: [], fault: null, asked, main };
    await pages.return({});
    return { records: value.entries, fault: null, asked, main };
  } catch (thrown) {
    return { records: [], fault: Fault.from(thrown), asked, main: asked.at(-1) ?? null };
  }
}

/** Reads a page that came before: what the reader makes of this answer alone. */
export function extractLook({ reader, input, region }: Target, answer: PageAnswer): Look {
  try {
    if (reader.sort === 'list') return { records: reader.extract(answer, input, region), fault: null };
    return { records: [reader.extract(answer, input, region)], fault: null };
  } catch (thrown) {
    return { records: [], fault: Fault.from(thrown) };
  }
}

/** A listed field that is missing, in part of the places where it should be or in all. */
export interface Missing {
  path: string;
  /** From 0 to 1. */
  share: number;
}

/** The number of listed fields of a page, and those that its records lack. */
export function missingOf(
  { market, page }: Target,
  records: readonly JsonObject[],
): { of: number; missing: Missing[] } {
  const shape = market.listedFields[page];
  const fields = shape === undefined ? [] : fieldsOf(shape);
  const missing = fields.flatMap((field) => {
    const lacks = records.map((record) => lackOf(record, field)).filter((lack) => lack !== null);
    const share = lacks.reduce((sum, lack) => sum + lack, 0) / lacks.length;
    return share > 0 ? [{ path: field.path, share }] : [];
  });
  return { of: fields.length, missing };
}
