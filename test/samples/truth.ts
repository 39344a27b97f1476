import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { z } from 'zod';
import { Fault } from '../../src/contract/fault.ts';
import { declaredSites } from '../../src/markets/declared-sites/declared-sites.ts';
import { text } from '../../src/markets/fields.ts';
import { mkte } from '../../src/markets/mkte/index.ts';
import { regions } from '../../src/markets/mkte/regions.ts';
import { sites } from '../../src/markets/sites/index.ts';

/** Fields that are measured. */
const fields = ['price', 'availability', 'sku', 'brand', 'gtin'] as const;
export type Field = (typeof fields)[number];

const values = z.array(z.string()).optional();
const truthSchema = z.record(
  z.string(),
  z.looseObject({
    url: z.url(),
    price: values,
    availability: values,
    sku: values,
    brand: values,
    gtin: values,
  }),
);

/** True values of a page: each field has those that are right. */
export type TruePage = z.infer<typeof truthSchema>[string];

/** Numbers of values of a field. A wrong value is both a false one and a missing one. */
export interface FieldScore {
  right: number;
  false: number;
  missing: number;
}

/** A value that is wrong or missing. */
export interface WrongValue {
  url: string;
  field: Field;
  expected: readonly string[];
  got: string | null;
}

/**
 * Returns the reader and its input for an address of the marketplace whose pages are HTML, or null.
 */
function marketPage(url: string) {
  const { host } = new URL(url);
  const region = Object.keys(regions).find((name) => regions[name]!.host === host);
  const input = mkte.ids.product!.parse(url);
  return region === undefined || input === null ? null : { market: mkte, input, region };
}

/** Declares the shop of an address by its host alone. */
function shopPage(url: string) {
  const declaration = JSON.stringify({ shop: { hosts: [new URL(url).host] } });
  declaredSites.use({ path: '', texts: { truth: declaration } });
  return { market: sites, input: { url }, region: 'shop' };
}

/**
 * Reads a page with the reader of its market, or as one of a declared shop. Returns null for a
 * fault.
 */
function readPage(url: string, body: Buffer): TrueValues | null {
  const { market, input, region } = marketPage(url) ?? shopPage(url);
  const reader = market.readers.product;
  if (reader?.sort !== 'record') return null;
  const headers = { 'content-type': 'text/html; charset=utf-8' };
  try {
    const record = reader.extract({ status: 200, headers, body, url, at: 0 }, input, region);
    const item = market.tracked?.product?.(record);
    const isShop = market === sites;
    return {
      price: item?.price ?? null,
      available: item?.available ?? null,
      sku: isShop ? text(record.sku) : (item?.key ?? null),
      brand: item?.details.brand ?? null,
      gtin: isShop ? text(record.gtin) : null,
    };
  } catch (error) {
    if (error instanceof Fault) return null;
    throw error;
  }
}

/** Values of a record that are measured. */
interface TrueValues {
  price: number | null;
  available: boolean | null;
  sku: string | null;
  brand: string | null;
  gtin: string | null;
}

function fieldTexts(record: TrueValues | null): Record<Field, string | null> {
  const available = record?.available ?? null;
  const state = available ? 'InStock' : 'OutOfStock';
  return {
    price: text(record?.price),
    availability: available === null ? null : state,
    sku: record?.sku ?? null,
    brand: record?.brand ?? null,
    gtin: record?.gtin ?? null,
  };
}

/** Returns the form in which two right values of a field are the same text. */
function comparable(field: Field, value: string): string {
  if (field === 'price') return String(Number(value));
  if (field === 'gtin') return value.padStart(14, '0');
  return field === 'brand' ? value.toLowerCase() : value;
}

const isRight = (field: Field, got: string, expected: readonly string[]) =>
  expected.some((value) => comparable(field, value) === comparable(field, got));

/** Adds the values of a record to the scores, and returns those that are wrong or missing. */
function scorePage(
  page: TruePage,
  record: TrueValues | null,
  scores: Record<Field, FieldScore>,
): WrongValue[] {
  const found = fieldTexts(record);
  return fields.flatMap((field) => {
    const expected = page[field] ?? [];
    const got = found[field];
    if (got === null && expected.length === 0) return [];
    if (got !== null && isRight(field, got, expected)) {
      scores[field].right += 1;
      return [];
    }
    if (got !== null) scores[field].false += 1;
    if (expected.length > 0) scores[field].missing += 1;
    return [{ url: page.url, field, expected, got }];
  });
}

/** Returns scores of no page. */
const emptyScores = () =>
  Object.fromEntries(fields.map((field) => [field, { right: 0, false: 0, missing: 0 }])) as Record<
    Field,
    FieldScore
  >;

/** Returns the precision, the recall, and their harmonic mean. 0 without values. */
export function ratesOf({ right, false: wrong, missing }: FieldScore) {
  const precision = right / Math.max(right + wrong, 1);
  const recall = right / Math.max(right + missing, 1);
  const f1 = right === 0 ? 0 : (2 * precision * recall) / (precision + recall);
  return { precision, recall, f1 };
}

/** Scores of the fields of a folder's pages. */
export interface PageScore {
  pageCount: number;
  scores: Record<Field, FieldScore>;
  wrong: WrongValue[];
}

/**
 * Reads every page of a folder with `truth.json` and `<key>.html.gz`, and returns the scores of its
 * fields.
 */
export async function scoreFolder(folder: string): Promise<PageScore> {
  const truth = truthSchema.parse(JSON.parse(await readFile(join(folder, 'truth.json'), 'utf8')));
  const scores = emptyScores();
  const wrong: WrongValue[] = [];
  for (const [key, page] of Object.entries(truth)) {
    const body = gunzipSync(await readFile(join(folder, `${key}.html.gz`)));
    for (const value of scorePage(page, readPage(page.url, body), scores)) wrong.push(value);
  }
  return { pageCount: Object.keys(truth).length, scores, wrong };
}
