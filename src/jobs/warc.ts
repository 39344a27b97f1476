import { STATUS_CODES } from 'node:http';
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import { newId, sha256 } from '../base/id.ts';
import { Fault } from '../contract/fault.ts';
import type { PageRequest, PageResponse } from '../fetch/page.ts';

/*
 * Pages as records of WARC 1.1 (ISO 28500:2017). Each record is a gzip member, so that files can be
 * concatenated, and a record read by its range.
 */

const compress = promisify(gzip);
const decompress = promisify(gunzip);

const lineBreak = '\r\n';
const headEnd = '\r\n\r\n';

/**
 * Headers that describe the encoded body, which is not kept, and cookies, which are credentials.
 */
const droppedHeaders = new Set([
  'content-encoding',
  'content-length',
  'set-cookie',
  'transfer-encoding',
]);

/** Maximum bytes of the heads of a page's records. */
const maxHeadBytes = 1024 ** 2;

/** Returns the fields of a head, one per line. A value cannot contain a line break. */
const head = (first: string, fields: Readonly<Record<string, string>>) =>
  [
    first,
    ...Object.entries(fields).map(([name, value]) => `${name}: ${value.replace(/\s+/g, ' ')}`),
  ].join(lineBreak) + headEnd;

/** Returns a record as a gzip member. */
async function member(fields: Readonly<Record<string, string>>, ...block: (string | Buffer)[]) {
  const content = Buffer.concat(block.map((part) => Buffer.from(part as string)));
  const all = { ...fields, 'Content-Length': String(content.length) };
  return compress(
    Buffer.concat([Buffer.from(head('WARC/1.1', all)), content, Buffer.from(headEnd)]),
  );
}

const recordId = () => `<urn:uuid:${newId()}>`;

/** Returns the record that begins a file. */
export function warcInfo(version: string, at: number): Promise<Buffer> {
  const fields = {
    'WARC-Type': 'warcinfo',
    'WARC-Record-ID': recordId(),
    'WARC-Date': new Date(at).toISOString(),
    'Content-Type': 'application/warc-fields',
  };
  return member(
    fields,
    `software: Gleaner ${version}${lineBreak}format: WARC File Format 1.1${lineBreak}`,
  );
}

/**
 * Returns the records of a page: its response, and before it the request if that has a body. The
 * body is decoded. Headers of the request and cookies are left out.
 */
export async function writePage(request: PageRequest, response: PageResponse): Promise<Buffer> {
  const { status, headers, body, url, at } = response;
  const { href, host, pathname, search } = new URL(url);
  const id = recordId();
  const record = (
    type: string,
    fields: Readonly<Record<string, string>>,
    ...block: (string | Buffer)[]
  ) =>
    member(
      {
        'WARC-Type': type,
        ...fields,
        'WARC-Date': new Date(at).toISOString(),
        'WARC-Target-URI': href,
        'Content-Type': `application/http;msgtype=${type}`,
      },
      ...block,
    );
  const describingHeaders = Object.entries(headers).filter(([name]) => !droppedHeaders.has(name));
  const length = (content: string | Buffer) => ({
    'content-length': String(Buffer.byteLength(content)),
  });
  const page = await record(
    'response',
    { 'WARC-Record-ID': id, 'WARC-Payload-Digest': `sha256:${sha256(body)}` },
    head(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`.trimEnd(), {
      ...Object.fromEntries(describingHeaders),
      ...length(body),
    }),
    body,
  );
  if (request.body === undefined) return page;
  const line = `${request.method ?? 'GET'} ${pathname}${search} HTTP/1.1`;
  const fields = { 'WARC-Record-ID': recordId(), 'WARC-Concurrent-To': id };
  const sent = head(line, { host, ...length(request.body) });
  return Buffer.concat([await record('request', fields, sent, request.body), page]);
}

/**
 * Reads the response in the records of writePage(). Throws `internal` if they are damaged or too
 * large.
 */
export async function readPage(records: Buffer, maxBodyBytes: number): Promise<PageResponse> {
  try {
    const content = await decompress(records, { maxOutputLength: 2 * maxBodyBytes + maxHeadBytes });
    for (let at = 0; at < content.length; ) {
      const [, fields, start] = readHead(content, at);
      const end = start + Number(fields['content-length']);
      at = end + headEnd.length;
      if (fields['warc-type'] !== 'response') continue;
      const [first, headers, bodyStart] = readHead(content, start);
      return {
        status: Number(first.split(' ')[1]),
        headers,
        body: content.subarray(bodyStart, end),
        url: fields['warc-target-uri']!,
        at: Date.parse(fields['warc-date']!),
      };
    }
    throw new Error('it has no response');
  } catch (error) {
    throw new Fault('internal', `a kept page cannot be read: ${Fault.from(error).message}`, {
      cause: error,
    });
  }
}

/**
 * Returns the first line of a head, its fields by lower-case name, and the offset of what follows.
 */
function readHead(
  content: Buffer,
  at: number,
): [first: string, fields: Readonly<Record<string, string>>, end: number] {
  const end = content.indexOf(headEnd, at);
  if (end < 0) throw new Error('a head has no end');
  const [first = '', ...lines] = content.toString('utf8', at, end).split(lineBreak);
  const fields = lines.map((line) => {
    const colon = line.indexOf(':');
    return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()] as const;
  });
  return [first, Object.fromEntries(fields), end + headEnd.length];
}
