import type { Fault } from '../../base/fault.ts';
import type { JsonObject } from '../../base/json.ts';
import type { PageAnswer } from '../../fetch/page.ts';
import { type Asked, type Look, missingOf } from './look.ts';
import type { Target } from './target.ts';
import type { Exchange } from './wire.ts';

const ms = (value: number): string => `${value < 10 ? value.toFixed(1) : Math.round(value)} ms`;

/** What is looked at, on one line. */
export function targetLine({ market, page, region, input }: Target): string {
  return [market.name, page, ...(region === '' ? [] : [region]), JSON.stringify(input)].join(' ');
}

/** One request with its head, its times and its status. */
export function exchangeLines({ method, url, head, ...rest }: Exchange): string[] {
  const { nameMs, connectMs, tlsMs, firstByteMs, totalMs, status, error } = rest;
  const times = [
    ['name', nameMs],
    ['connect', connectMs],
    ['TLS', tlsMs],
    ['first byte', firstByteMs],
    ['total', totalMs],
  ] as const;
  const known = times.flatMap(([name, value]) => (value === null ? [] : [`${name} ${ms(value)}`]));
  // HTTP/2 has fields in place of the first line.
  if (head.some((line) => line.startsWith(':'))) known.unshift('HTTP/2');
  const fields = head.filter((line) => /^[^:\s]+: /.test(line));
  return [
    `${method} ${url}`,
    ...fields.map((line) => `  ${line}`),
    `  ${error ?? status ?? 'no answer'}${known.length > 0 ? ` (${known.join(', ')})` : ''}`,
  ];
}

/** A page that the reader asked for, where what went over the wire is the browser's own affair. */
export function askedLines({ request, answer }: Asked, totalMs: number): string[] {
  return [
    `${request.method ?? 'GET'} ${answer.url}`,
    `  by the browser, which opened ${request.page?.path ?? request.path}`,
    `  ${answer.status} (total ${ms(totalMs)})`,
  ];
}

/** An answer and where its body was saved. */
export function answerLine({ status, headers, body }: PageAnswer, file: string): string {
  return `${status} ${headers['content-type'] ?? 'of no type'}, ${body.length} bytes, saved as ${file}`;
}

/** The fault, or the record or the first entry, and what is missing of the listed fields. */
export function lookLines(target: Target, { records, fault }: Look): string[] {
  if (fault) return [faultLine(fault)];
  const isList = target.reader.sort === 'list';
  const [first] = records;
  const counted = isList ? [`${records.length} entries on the first page${first ? '; the first:' : ''}`] : [];
  return [...counted, ...(first ? [JSON.stringify(first, null, 2)] : []), missingLine(target, records)];
}

function faultLine({ code, message, retry }: Fault): string {
  const rule = { never: 'not tried again', soon: 'tried again soon', later: 'tried again later' }[retry];
  return `FAULT ${code} (${rule}): ${message}`;
}

function missingLine(target: Target, records: readonly JsonObject[]): string {
  const { of, missing } = missingOf(target, records);
  if (records.length === 0) return `Nothing to look for the ${of} listed fields in.`;
  if (missing.length === 0) return `All of the ${of} listed fields are there.`;
  const paths = missing.map(({ path, share }) =>
    share === 1 ? path : `${path} (${Math.round(share * 100)} %)`,
  );
  return `Missing, of ${of} listed fields: ${paths.join(', ')}`;
}
