import type { Clock } from '../base/clock.ts';
import type { JsonObject } from '../base/json.ts';
import { errorOf, GleanerError } from './error.ts';

/** What requests are sent with. */
export interface TransportOptions {
  fetch: typeof globalThis.fetch;
  clock: Clock;
  /** Tries of a call that may be repeated, the first one counted. */
  tries: number;
  /** Milliseconds that an answer's head may take. */
  timeoutMs: number;
  /** From 0 to 1, for the spread of back-offs. */
  random: () => number;
}

/** One request. */
export interface Outgoing {
  verb: string;
  url: string;
  headers: Record<string, string>;
  body?: JsonObject | FormData | undefined;
  /** Whether sending it twice does what sending it once does. */
  isRepeatable: boolean;
  signal?: AbortSignal | undefined;
  /** Milliseconds that the service was asked to take before it answers, beside `timeoutMs`. */
  patienceMs?: number;
  /** Statuses beside 2xx that are answers, too. */
  alsoGood?: readonly number[];
}

/** Sends a request until it is answered or given up; throws a GleanerError, or the signal's reason. */
export type Send = (request: Outgoing) => Promise<Response>;

/** Statuses after which the same request may do better. */
const passing: readonly number[] = [429, 502, 503];

const firstWaitMs = 250;
const longestWaitMs = 10_000;
/** A service that wants to be left alone for longer is not waited for. */
const longestAskedMs = 120_000;

/** Milliseconds before try `number` (from 1: the second), doubled each time, with a spread of a half. */
export function backOffMs(number: number, random: () => number): number {
  return Math.min(longestWaitMs, firstWaitMs * 2 ** (number - 1)) * (0.5 + random() / 2);
}

/** Makes the sender. */
export function createSend({ fetch, clock, tries, timeoutMs, random }: TransportOptions): Send {
  const once = async (request: Outgoing): Promise<Response> => {
    const { verb, url, headers, body, signal, patienceMs = 0, alsoGood = [] } = request;
    const late = new AbortController();
    // Cleared once the head is there: a long body takes as long as it takes.
    const timer = setTimeout(() => late.abort(), timeoutMs + patienceMs);
    try {
      const isForm = body instanceof FormData;
      const response = await fetch(url, {
        method: verb,
        headers: {
          ...headers,
          ...(body === undefined || isForm ? {} : { 'content-type': 'application/json' }),
        },
        ...(body === undefined ? {} : { body: isForm ? body : JSON.stringify(body) }),
        signal: signal === undefined ? late.signal : AbortSignal.any([signal, late.signal]),
      });
      if (response.ok || alsoGood.includes(response.status)) return response;
      throw await errorOf(response);
    } catch (error) {
      if (error instanceof GleanerError) throw error;
      signal?.throwIfAborted();
      const why = late.signal.aborted
        ? `no answer within ${(timeoutMs + patienceMs) / 1000} s`
        : reasonOf(error);
      throw new GleanerError({
        status: 0,
        detail: `${new URL(url).origin} does not answer: ${why}`,
        cause: error,
      });
    } finally {
      clearTimeout(timer);
    }
  };
  return async (request) => {
    for (let number = 1; ; number += 1) {
      try {
        return await once(request);
      } catch (error) {
        const waitMs = waitOf(error, number);
        if (!request.isRepeatable || number >= tries || waitMs === undefined) throw error;
        await clock.sleep(waitMs, request.signal);
      }
    }
  };

  function waitOf(error: unknown, number: number): number | undefined {
    if (!(error instanceof GleanerError) || !isPassing(error)) return undefined;
    if (error.retryAfterMs === undefined) return backOffMs(number, random);
    return error.retryAfterMs > longestAskedMs ? undefined : error.retryAfterMs;
  }
}

/**
 * Returns whether the same call may succeed later. 409 with `Retry-After` means that an earlier request with the
 * same idempotency key has not ended yet.
 */
export function isPassing({ status, retryAfterMs }: GleanerError): boolean {
  return status === 0 || passing.includes(status) || (status === 409 && retryAfterMs !== undefined);
}

/** What went wrong, in words: fetch says "fetch failed" and keeps the reason as its cause. */
export function reasonOf(error: unknown): string {
  const cause = (error as { cause?: unknown }).cause ?? error;
  const { message, code } = cause as { message?: string; code?: string };
  return message || code || String(cause);
}
