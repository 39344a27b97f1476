import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Json, JsonObject } from '../../src/base/json.ts';
import { Fault, type FaultCode } from '../../src/contract/fault.ts';
import type { PageResponse } from '../../src/fetch/page.ts';
import type { Market, PageName, Reader } from '../../src/markets/market.ts';
import { type Miss, misses } from './compare.ts';
import { bodyOf, type Sample } from './manifest.ts';

/**
 * Result of a sample. `skipped`: the market or reader does not exist, or the page has an older form
 * that the reader may refuse.
 */
export type SampleResult =
  | { result: 'held' }
  | { result: 'missed'; misses: Miss[] }
  | { result: 'skipped'; why: string };

const readers: Record<Sample['page'], PageName> = {
  product: 'product',
  variants: 'variants',
  search: 'search',
  shop: 'merchant',
  catalogue: 'search',
};

const names: Partial<Record<FaultCode, NonNullable<Sample['fault']>>> = {
  page_blocked: 'blocked',
  page_login: 'blocked',
  page_throttled: 'blocked',
  page_not_found: 'not_found',
  page_unreadable: 'unreadable',
  page_empty: 'unreadable',
  page_region: 'unreadable',
  page_mismatch: 'unreadable',
  page_failed: 'unreadable',
  page_too_complex: 'unreadable',
};

function extract(reader: Reader, response: PageResponse, entry: Sample): Json {
  const input = entry.request as JsonObject;
  if (reader.sort === 'record') return reader.extract(response, input, entry.region);
  const list = entry.market === 'mkta' ? 'items' : 'products';
  return { [list]: reader.extract(response, input, entry.region) };
}

/** Converts a value to the JSON that clients receive, without undefined keys. */
function asJson(value: Json): Json {
  return JSON.parse(JSON.stringify(value)) as Json;
}

function faultResult(fault: Fault, entry: Sample): SampleResult {
  const name = names[fault.code];
  const got = `fault ${fault.code}: ${fault.message}`;
  if (entry.outcome === 'fault' && name === entry.fault) return { result: 'held' };
  if (entry.optional && name === 'unreadable')
    return { result: 'skipped', why: `older form, ${got}` };
  const expected = entry.outcome === 'fault' ? `fault ${entry.fault}` : `a ${entry.outcome}`;
  return { result: 'missed', misses: [{ path: '', expected, got }] };
}

/** Returns a sample's page as a response. */
export const responseOf = (entry: Sample, bytes: Buffer, now: number): PageResponse => ({
  status: 200,
  headers: { 'content-type': entry.content_type },
  body: bodyOf(entry, bytes),
  url: `http://samples.invalid/${entry.file}`,
  at: now,
});

/** Runs a market's reader on a sample's page and compares the result with the expectations. */
export function runSample(
  entry: Sample,
  bytes: Buffer,
  markets: readonly Market[],
  now: number,
): SampleResult {
  const market = markets.find(({ name }) => name === entry.market);
  if (!market) return { result: 'skipped', why: `no market ${entry.market}` };
  const reader = market.readers[readers[entry.page]];
  if (!reader)
    return { result: 'skipped', why: `${entry.market} has no ${readers[entry.page]} reader` };
  const response = responseOf(entry, bytes, now);
  let root: Json;
  try {
    root = asJson(extract(reader, response, entry));
  } catch (thrown) {
    if (!(thrown instanceof Fault))
      throw new Error(`${entry.file} (${entry.page})`, { cause: thrown });
    return faultResult(thrown, entry);
  }
  if (entry.outcome === 'fault') {
    const got = JSON.stringify(root).slice(0, 200);
    return { result: 'missed', misses: [{ path: '', expected: `fault ${entry.fault}`, got }] };
  }
  const missed = misses(root, entry);
  return missed.length === 0 ? { result: 'held' } : { result: 'missed', misses: missed };
}

/**
 * Runs every sample of a folder in order, calls `report` with each result, and returns the counts.
 */
export async function runFolder(
  folder: string,
  entries: readonly Sample[],
  markets: readonly Market[],
  now: number,
  report: (entry: Sample, result: SampleResult) => void,
): Promise<Record<SampleResult['result'], number>> {
  const counts = { held: 0, missed: 0, skipped: 0 };
  for (const entry of entries) {
    const result = runSample(entry, await readFile(join(folder, entry.file)), markets, now);
    counts[result.result] += 1;
    report(entry, result);
  }
  return counts;
}
