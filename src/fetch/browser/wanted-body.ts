import type { CDPSession, Protocol } from 'puppeteer-core';

type PausedEvent = Protocol.Fetch.RequestPausedEvent;

/** Bytes that are read from a response at once. */
const chunkBytes = 1024 ** 2;

const isSuccess = ({ responseStatusCode = 0 }: PausedEvent): boolean =>
  responseStatusCode >= 200 && responseStatusCode <= 299;

function headerOf({ responseHeaders = [] }: PausedEvent, name: string): string | undefined {
  return responseHeaders.find((header) => header.name.toLowerCase() === name)?.value;
}

/** Returns the length of the body by its headers, or null if they do not state it. */
function lengthOf(paused: PausedEvent): number | null {
  const length = headerOf(paused, 'content-length');
  return length === undefined || headerOf(paused, 'content-encoding') !== undefined
    ? null
    : Number(length);
}

const hasJson = (paused: PausedEvent) => /[/+]json\b/i.test(headerOf(paused, 'content-type') ?? '');

/**
 * Returns true if a response can be read before the page receives it. It must not come from the
 * browser's cache, and its length or format must show that its body is complete, as the browser
 * does not report that. The body of an error is read for its message only.
 */
export function canTakeBody(paused: PausedEvent, isUncached: boolean): boolean {
  if (!isSuccess(paused)) return true;
  const isFresh =
    isUncached || /no-store|no-cache|max-age=0\b/.test(headerOf(paused, 'cache-control') ?? '');
  return isFresh && (lengthOf(paused) !== null || hasJson(paused));
}

/**
 * Reads the decoded body of a paused response, whatever the page does in the meantime. Returns null
 * if it is larger than the limit. Rejects if the page has cancelled the request.
 */
export async function takeBody(
  cdp: CDPSession,
  { requestId }: PausedEvent,
  maxBytes: number,
): Promise<Buffer | null> {
  const { stream } = await cdp.send('Fetch.takeResponseBodyAsStream', { requestId });
  const chunks: Buffer[] = [];
  let bytes = 0;
  for (;;) {
    const { data, base64Encoded, eof } = await cdp.send('IO.read', {
      handle: stream,
      size: chunkBytes,
    });
    const chunk = Buffer.from(data, base64Encoded ? 'base64' : 'utf8');
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > maxBytes) return null;
    if (eof) break;
  }
  await cdp.send('IO.close', { handle: stream });
  return Buffer.concat(chunks);
}

/** Returns true if a text has a JSON object or list, also within a call or after a prefix. */
function isWholeJson(text: string): boolean {
  const start = text.search(/[[{]/);
  const end = Math.max(text.lastIndexOf('}'), text.lastIndexOf(']'));
  try {
    JSON.parse(text.slice(Math.max(start, 0), end + 1));
    return true;
  } catch {
    return false;
  }
}

/**
 * Returns true if an intercepted body is complete. A broken connection ends a body without an
 * error.
 */
export function isWholeBody(paused: PausedEvent, body: Buffer): boolean {
  if (!isSuccess(paused)) return true;
  const length = lengthOf(paused);
  if (length === null) return isWholeJson(body.toString('utf8'));
  return body.length === length;
}

/** Gives the page a response whose body was intercepted. */
export async function returnBody(
  cdp: CDPSession,
  paused: PausedEvent,
  body: Buffer,
): Promise<void> {
  const { requestId, responseStatusCode = 0, responseHeaders = [] } = paused;
  const encoded = ['content-encoding', 'content-length', 'transfer-encoding'];
  await cdp.send('Fetch.fulfillRequest', {
    requestId,
    responseCode: responseStatusCode,
    responseHeaders: responseHeaders.filter(({ name }) => !encoded.includes(name.toLowerCase())),
    body: body.toString('base64'),
  });
}
