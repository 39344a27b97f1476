import { isIP } from 'node:net';
import { Agent } from 'undici';
import { Fault } from '../contract/fault.ts';
import { guardedLookup, isPublicAddress, type ResolveName } from './address.ts';
import { networkFault } from './network-fault.ts';

/** A message to an address that someone gave us. */
export interface Post {
  /** http or https. */
  url: string;
  headers: Record<string, string>;
  body: string;
  /** To the public internet only. */
  guarded: boolean;
}

/** What came back. Redirects are not followed: a 3xx is the answer. */
export interface PostAnswer {
  status: number;
  /** Lower-case names; what came more than once is joined with commas. */
  headers: Record<string, string>;
  /** The beginning of its body, as text. */
  text: string;
}

/** Posts messages. */
export interface Poster {
  /**
   * Faults: `address_refused` for what is not of the public internet, where that is asked for; `page_timeout`,
   * `network`. An aborted signal rejects with its reason.
   */
  post(message: Post, signal: AbortSignal): Promise<PostAnswer>;
  /** Ends every connection. */
  close(): Promise<void>;
}

/** What posting is held to. */
export interface PosterOptions {
  /** Milliseconds for one answer. */
  totalMs: number;
  /** Resolves names of guarded messages; `dns.lookup` when absent. */
  resolve?: ResolveName;
}

/** What is read of an answer's body, in bytes: enough for a person to see what is wrong. */
const answerBytes = 8 * 1024;

/**
 * Makes what posts messages over HTTP/1.1. A guarded message is judged when its connection is made, by the very
 * address that is connected to. An answer whose body is long or late counts by its status.
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
      // The lookup sees names only.
      if (message.guarded && isIP(host) !== 0 && !isPublicAddress(host)) {
        throw new Fault('address_refused', `${host} is not an address of the public internet`);
      }
      const late = AbortSignal.timeout(totalMs);
      try {
        return await send(message.guarded ? guarded : open, url, message, AbortSignal.any([late, signal]));
      } catch (error) {
        if (signal.aborted) throw signal.reason;
        if (late.aborted) {
          throw new Fault('page_timeout', `${url.host}: no answer within ${totalMs} ms`, { cause: error });
        }
        throw networkFault(error, url.host);
      }
    },
    async close() {
      await Promise.all([open.destroy(), guarded.destroy()]);
    },
  };
}

function send(dispatcher: Agent, url: URL, message: Post, signal: AbortSignal): Promise<PostAnswer> {
  const { promise, resolve, reject } = Promise.withResolvers<PostAnswer>();
  const chunks: Buffer[] = [];
  let length = 0;
  let answer: Omit<PostAnswer, 'text'> | null = null;
  let stop = () => {};
  /** Ends it with what has come: after the status nothing can change any more. */
  const end = (error: unknown) => {
    signal.removeEventListener('abort', aborted);
    if (answer === null) reject(error);
    else resolve({ ...answer, text: Buffer.concat(chunks).toString('utf8') });
  };
  const aborted = () => {
    stop();
    end(signal.reason);
  };
  signal.addEventListener('abort', aborted, { once: true });
  const { origin, pathname, search } = url;
  const { headers, body } = message;
  dispatcher.dispatch(
    { origin, path: pathname + search, method: 'POST', headers, body },
    {
      onRequestStart(controller) {
        stop = () => controller.abort(new Error('stopped'));
        if (signal.aborted) stop();
      },
      onResponseStart(_controller, status, received) {
        // 1xx: the answer is still to come.
        if (status < 200) return;
        const lines = Object.entries(received).map(([name, value]) => [name, String(value)] as const);
        answer = { status, headers: Object.fromEntries(lines) };
      },
      onResponseData(_controller, chunk) {
        chunks.push(chunk.subarray(0, answerBytes - length));
        length += chunk.length;
        if (length < answerBytes) return;
        stop();
        end(new Error('the answer is long'));
      },
      onResponseEnd: () => end(null),
      onResponseError: (_controller, error) => end(error),
    },
  );
  return promise;
}
