import type { Readable } from 'node:stream';
import { Agent } from 'undici';
import { Fault } from '../contract/fault.ts';
import { guardedLookup, type ResolveName, requirePublicHost } from '../fetch/address.ts';
import { createConnector } from '../fetch/http-request.ts';
import { networkFault } from '../fetch/network-fault.ts';

/** A message to a URL that a user entered. */
export interface PostMessage {
  /** URL with the scheme http or https. */
  url: string;
  headers: Record<string, string>;
  body: string;
  /** Restricts the message to the public internet. */
  guarded: boolean;
}

/** A file to a URL that a user entered, or its deletion. */
export interface FileRequest extends Omit<PostMessage, 'body'> {
  method: 'PUT' | 'DELETE';
  /** The file, whose length the headers state. Null if there is none. */
  body: AsyncIterable<Uint8Array> | null;
  /** Timeout of the whole request, in milliseconds. */
  totalMs: number;
}

/** Response to a request. Redirects are not followed. */
export interface PostResponse {
  status: number;
  /** Headers by lower-case name; repeated values are joined with commas. */
  headers: Record<string, string>;
  /** First 8 KB of the body, as text. */
  text: string;
}

/** HTTP client that sends files. */
export interface FileSender {
  /**
   * Sends or deletes a file, with the faults of post(). An error of the body aborts the request and
   * is thrown.
   */
  send(request: FileRequest, signal: AbortSignal): Promise<PostResponse>;
}

/** HTTP client that sends messages and files. */
export interface Poster extends FileSender {
  /**
   * Posts a message. Rejects with `address_refused` if a guarded message has a private address,
   * with `page_timeout` or `network`, or with the signal's reason if aborted.
   */
  post(message: PostMessage, signal: AbortSignal): Promise<PostResponse>;
  /** Closes all connections. */
  close(): Promise<void>;
}

/** Options for createPoster(). */
export interface PosterOptions {
  /**
   * Timeout of a response to a message, and of a receiver that stalls during a file, in
   * milliseconds.
   */
  totalMs: number;
  /** Resolves the host names of guarded messages; `dns.lookup` by default. */
  resolve?: ResolveName;
}

/** Maximum bytes read of a response body, enough to show an error message. */
const maxTextBytes = 8 * 1024;

/**
 * Creates a client that sends over HTTP/1.1. The address of a guarded request is checked when the
 * connection is made. A long or stalled body does not fail a request whose status has arrived.
 */
export function createPoster({ totalMs, resolve }: PosterOptions): Poster {
  const pool = {
    headersTimeout: totalMs,
    bodyTimeout: totalMs,
    maxHeaderSize: 16 * 1024,
    allowH2: false,
  };
  const open = new Agent({ ...pool, connect: createConnector({ timeout: totalMs }) });
  const lookup = guardedLookup(resolve);
  const guarded = new Agent({ ...pool, connect: createConnector({ timeout: totalMs, lookup }) });

  const request = async (
    { guarded: isGuarded, ...outgoing }: Outgoing & { guarded: boolean },
    timeoutMs: number,
    signal: AbortSignal,
  ): Promise<PostResponse> => {
    signal.throwIfAborted();
    const url = new URL(outgoing.url);
    // The lookup is only called for names.
    if (isGuarded) requirePublicHost(url);
    const timeout = AbortSignal.timeout(timeoutMs);
    try {
      return await send(
        isGuarded ? guarded : open,
        url,
        outgoing,
        AbortSignal.any([timeout, signal]),
      );
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      if (timeout.aborted) {
        throw new Fault('page_timeout', `${url.host}: no response within ${timeoutMs} ms`, {
          cause: error,
        });
      }
      throw networkFault(error, url.host);
    }
  };

  return {
    post: (message, signal) => request({ ...message, method: 'POST' }, totalMs, signal),
    async send({ body, totalMs: timeoutMs, ...rest }, signal) {
      let failure: { error: unknown } | undefined;
      const observed = body && observeErrors(body, (error) => (failure = { error }));
      try {
        return await request({ ...rest, body: observed }, timeoutMs, signal);
      } catch (error) {
        throw failure ? failure.error : error;
      }
    },
    async close() {
      await Promise.all([open.destroy(), guarded.destroy()]);
    },
  };
}

/** A request without its restrictions. */
interface Outgoing {
  url: string;
  method: 'POST' | 'PUT' | 'DELETE';
  headers: Record<string, string>;
  body: string | AsyncIterable<Uint8Array> | null;
}

/** Yields the chunks and reports the error that ends them. */
async function* observeErrors(
  chunks: AsyncIterable<Uint8Array>,
  onError: (error: unknown) => void,
): AsyncGenerator<Uint8Array> {
  try {
    yield* chunks;
  } catch (error) {
    onError(error);
    throw error;
  }
}

function send(
  dispatcher: Agent,
  url: URL,
  outgoing: Outgoing,
  signal: AbortSignal,
): Promise<PostResponse> {
  const { promise, resolve, reject } = Promise.withResolvers<PostResponse>();
  const chunks: Buffer[] = [];
  let length = 0;
  let head: Omit<PostResponse, 'text'> | null = null;
  let abort = () => {};
  /**
   * Settles with the response received so far: once the status is known, later errors do not
   * matter.
   */
  const settle = (error: unknown) => {
    signal.removeEventListener('abort', aborted);
    if (head === null) reject(error);
    else resolve({ ...head, text: Buffer.concat(chunks).toString('utf8') });
  };
  const aborted = () => {
    abort();
    settle(signal.reason);
  };
  signal.addEventListener('abort', aborted, { once: true });
  const { origin, pathname, search } = url;
  const { method, headers } = outgoing;
  // undici accepts async iterables, which its type of dispatch options lacks.
  const body = outgoing.body as string | Readable | null;
  dispatcher.dispatch(
    {
      origin,
      path: pathname + search,
      method,
      headers,
      body,
    },
    {
      onRequestStart(controller) {
        abort = () => controller.abort(new Error('aborted'));
        if (signal.aborted) abort();
      },
      onResponseStart(_controller, status, received) {
        // 1xx: the final response follows.
        if (status < 200) return;
        const lines = Object.entries(received).map(
          ([name, value]) => [name, String(value)] as const,
        );
        head = { status, headers: Object.fromEntries(lines) };
      },
      onResponseData(_controller, chunk) {
        chunks.push(chunk.subarray(0, maxTextBytes - length));
        length += chunk.length;
        if (length < maxTextBytes) return;
        abort();
        settle(new Error('the response is too long'));
      },
      onResponseEnd: () => settle(null),
      onResponseError: (_controller, error) => settle(error),
    },
  );
  return promise;
}
