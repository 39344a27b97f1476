import { isIP } from 'node:net';
import { Agent } from 'undici';
import { Fault } from '../contract/fault.ts';
import { guardedLookup, isPublicAddress, type ResolveName } from './address.ts';
import { networkFault } from './network-fault.ts';

/** A message to a URL that a user entered. */
export interface PostMessage {
  /** URL with the scheme http or https. */
  url: string;
  headers: Record<string, string>;
  body: string;
  /** Restricts the message to the public internet. */
  guarded: boolean;
}

/** Response to a message. Redirects are not followed. */
export interface PostResponse {
  status: number;
  /** Headers by lower-case name; repeated values are joined with commas. */
  headers: Record<string, string>;
  /** First 8 KB of the body, as text. */
  text: string;
}

/** HTTP client that posts messages. */
export interface Poster {
  /**
   * Posts a message. Rejects with `address_refused` if a guarded message has a private address, with `page_timeout` or
   * `network`, or with the signal's reason if aborted.
   */
  post(message: PostMessage, signal: AbortSignal): Promise<PostResponse>;
  /** Closes all connections. */
  close(): Promise<void>;
}

/** Options for createPoster(). */
export interface PosterOptions {
  /** Timeout of a response, in milliseconds. */
  totalMs: number;
  /** Resolves the host names of guarded messages; `dns.lookup` by default. */
  resolve?: ResolveName;
}

/** Maximum bytes read of a response body, enough to show an error message. */
const maxTextBytes = 8 * 1024;

/**
 * Creates a client that posts messages over HTTP/1.1. The address of a guarded message is checked when the connection is
 * made. A long or stalled body does not fail a request whose status has arrived.
 */
export function createPoster({ totalMs, resolve }: PosterOptions): Poster {
  const pool = {
    headersTimeout: totalMs,
    bodyTimeout: totalMs,
    maxHeaderSize: 16 * 1024,
    allowH2: false,
  };
  const open = new Agent({ ...pool, connect: { timeout: totalMs } });
  const guarded = new Agent({ ...pool, connect: { timeout: totalMs, lookup: guardedLookup(resolve) } });

  return {
    async post(message, signal) {
      signal.throwIfAborted();
      const url = new URL(message.url);
      const host = url.hostname.replace(/^\[|\]$/g, '');
      // The lookup is only called for names.
      if (message.guarded && isIP(host) !== 0 && !isPublicAddress(host)) {
        throw new Fault('address_refused', `${host} is not an address of the public internet`);
      }
      const timeout = AbortSignal.timeout(totalMs);
      try {
        return await send(message.guarded ? guarded : open, url, message, AbortSignal.any([timeout, signal]));
      } catch (error) {
        if (signal.aborted) throw signal.reason;
        if (timeout.aborted) {
          throw new Fault('page_timeout', `${url.host}: no response within ${totalMs} ms`, { cause: error });
        }
        throw networkFault(error, url.host);
      }
    },
    async close() {
      await Promise.all([open.destroy(), guarded.destroy()]);
    },
  };
}

function send(dispatcher: Agent, url: URL, message: PostMessage, signal: AbortSignal): Promise<PostResponse> {
  const { promise, resolve, reject } = Promise.withResolvers<PostResponse>();
  const chunks: Buffer[] = [];
  let length = 0;
  let head: Omit<PostResponse, 'text'> | null = null;
  let abort = () => {};
  /** Settles with the response received so far: once the status is known, later errors do not matter. */
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
  const { headers, body } = message;
  dispatcher.dispatch(
    { origin, path: pathname + search, method: 'POST', headers, body },
    {
      onRequestStart(controller) {
        abort = () => controller.abort(new Error('aborted'));
        if (signal.aborted) abort();
      },
      onResponseStart(_controller, status, received) {
        // 1xx: the final response follows.
        if (status < 200) return;
        const lines = Object.entries(received).map(([name, value]) => [name, String(value)] as const);
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
