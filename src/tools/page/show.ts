import type { JsonObject } from '../../base/json.ts';
import type { Fault } from '../../contract/fault.ts';
import type { PageResponse } from '../../fetch/page.ts';
import { type FetchedPage, missingOf, type PageReading } from './reading.ts';
import type { RecordedExchange } from './request-recorder.ts';
import type { Target } from './target.ts';

const ms = (value: number): string => `${value < 10 ? value.toFixed(1) : Math.round(value)} ms`;

export function targetLine({ market, page, region, input }: Target): string {
  const parts = [market.name, page];
  if (region !== '') parts.push(region);
  parts.push(JSON.stringify(input));
  return parts.join(' ');
}

/** Formats a request with its headers, times, and status. */
export function exchangeLines({ method, url, head, ...rest }: RecordedExchange): string[] {
  const { nameMs, connectMs, tlsMs, firstByteMs, totalMs, status, error } = rest;
  const times = [
    ['DNS', nameMs],
    ['connect', connectMs],
    ['TLS', tlsMs],
    ['first byte', firstByteMs],
    ['total', totalMs],
  ] as const;
  const parts: string[] = [];
  for (const [name, value] of times) if (value !== null) parts.push(`${name} ${ms(value)}`);
  // HTTP/2 has pseudo-headers instead of a request line.
  if (head.some((line) => line.startsWith(':'))) parts.unshift('HTTP/2');
  const fields = head.filter((line) => /^[^:\s]+: /.test(line));
  return [
    `${method} ${url}`,
    ...fields.map((line) => `  ${line}`),
    `  ${error ?? status ?? 'no response'}${parts.length > 0 ? ` (${parts.join(', ')})` : ''}`,
  ];
}

/** Formats a page fetched by the browser, whose requests are not visible here. */
export function browserLines({ request, response }: FetchedPage, totalMs: number): string[] {
  return [
    `${request.method ?? 'GET'} ${response.url}`,
    `  by the browser, from the page ${request.page?.path ?? request.path}`,
    `  ${response.status} (total ${ms(totalMs)})`,
  ];
}

/** Formats a response and the path of its saved body. */
export function responseLine({ status, headers, body }: PageResponse, file: string): string {
  return (
    `${status} ${headers['content-type'] ?? 'no content type'}, ` +
    `${body.length} bytes, saved as ${file}`
  );
}

/** Formats the fault, or the first record and the listed fields that are missing. */
export function readingLines(target: Target, { records, fault }: PageReading): string[] {
  if (fault) return [faultLine(fault)];
  const [first] = records;
  const lines: string[] = [];
  if (target.reader.sort === 'list') {
    const introduction = first ? '; the first one:' : '';
    lines.push(`${records.length} entries on the first page${introduction}`);
  }
  if (first) lines.push(JSON.stringify(first, null, 2));
  lines.push(missingLine(target, records));
  return lines;
}

function faultLine({ code, message, retry }: Fault): string {
  const rule = { never: 'not retried', soon: 'retried soon', later: 'retried later' }[retry];
  return `FAULT ${code} (${rule}): ${message}`;
}

function missingLine(target: Target, records: readonly JsonObject[]): string {
  const { of, missing } = missingOf(target, records);
  if (records.length === 0) return `No record to check for the ${of} listed fields.`;
  if (missing.length === 0) return `All ${of} listed fields found.`;
  const paths = missing.map(({ path, share }) =>
    share === 1 ? path : `${path} (${Math.round(share * 100)}%)`,
  );
  return `Missing ${missing.length} of ${of} listed fields: ${paths.join(', ')}`;
}
