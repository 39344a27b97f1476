import type { Dispatcher } from 'undici';
import { Fault } from '../contract/fault.ts';

/** An answer as it came over the wire. */
export interface WireAnswer {
  status: number;
  /** Lower-case names; what came more than once is joined with commas. Without `set-cookie`. */
  headers: Record<string, string>;
  /** Values of `set-cookie`, as they came. */
  cookies: readonly string[];
  /** Still encoded. */
  body: Buffer;
}

/** A request that was sent. */
export interface Exchange {
  /** Rejects with what undici, the socket or `stop` say, and with `page_too_large` over the limit. */
  answer: Promise<WireAnswer>;
  /** Ends the request, whatever it is waiting for; `answer` rejects with the reason. */
  stop(reason: unknown): void;
  /** Bytes of the body so far, and the milliseconds since its headers came; none before. */
  received(): { bytes: number; ms: number };
}

/** Bytes of an answer's headers, names and values together. */
export const mostHeaderBytes = 64 * 1024;

type Request = Dispatcher.DispatchOptions & { origin: string };

function joined(headers: Record<string, string | string[] | undefined>): Record<string, string> {
  const result: Record<string, string> = {};
  for (const name in headers) {
    const value = headers[name];
    // Cookies are the session's business, and commas inside of them are their own.
    if (value !== undefined && name !== 'set-cookie')
      result[name] = Array.isArray(value) ? value.join(', ') : value;
  }
  return result;
}

/** Over HTTP/2 nothing below us counts them: each may be that long, and there may be 128. */
function headerBytes(headers: Record<string, string | string[] | undefined>): number {
  let bytes = 0;
  for (const name in headers) {
    const value = headers[name];
    if (typeof value === 'string') bytes += name.length + value.length;
    else for (const each of value ?? []) bytes += name.length + each.length;
  }
  return bytes;
}

/**
 * Sends a request and gathers its answer, of at most `limit` bytes of body and 64 KB of headers. Takes undici's events as they
 * come: a stream for every page, and a signal for every request, would cost more than all else here.
 */
export function send(dispatcher: Dispatcher, request: Request, limit: number): Exchange {
  const { promise, resolve, reject } = Promise.withResolvers<WireAnswer>();
  const chunks: Buffer[] = [];
  let length = 0;
  let status = 0;
  let startedAt: number | null = null;
  let headers: Record<string, string> = {};
  let cookies: readonly string[] = [];
  let controller: Dispatcher.DispatchController | null = null;
  let stopped: { reason: unknown } | null = null;

  const stop = (reason: unknown) => {
    stopped ??= { reason };
    // undici wants an error to end a connection with, the caller may have given anything.
    controller?.abort(reason instanceof Error ? reason : new Error('stopped'));
    reject(reason);
  };
  dispatcher.dispatch(request, {
    onRequestStart(started) {
      controller = started;
      if (stopped) stop(stopped.reason);
    },
    onResponseStart(_controller, statusCode, received) {
      // 1xx: the answer is still to come.
      if (statusCode < 200) return;
      if (headerBytes(received) > mostHeaderBytes) {
        return stop(new Fault('page_too_large', "the answer's headers are too large"));
      }
      status = statusCode;
      startedAt = performance.now();
      headers = joined(received);
      const set = received['set-cookie'];
      if (set !== undefined) cookies = Array.isArray(set) ? set : [set];
    },
    onResponseData(_controller, chunk) {
      length += chunk.length;
      if (length > limit) stop(new Fault('page_too_large', `the page is larger than ${limit} bytes`));
      else chunks.push(chunk);
    },
    onResponseEnd() {
      const body = chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, length);
      resolve({ status, headers, cookies, body });
    },
    onResponseError(_controller, error) {
      reject(error);
    },
  });
  const received = () => ({ bytes: length, ms: startedAt === null ? 0 : performance.now() - startedAt });
  return { answer: promise, stop, received };
}
