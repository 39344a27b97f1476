import { waitMetadata } from '../../src/contract/wait.ts';
import { errorOf, GleanerError, reasonOf } from './error.ts';

/** Options of createFetch(). */
export interface FetchOptions {
  fetch: typeof globalThis.fetch;
  /**
   * Timeout until a response starts, in milliseconds, in addition to the wait that a request asks
   * for.
   */
  timeoutMs: number;
}

/** Statuses after which the same request may succeed. Proxies send 504. */
const transient: readonly number[] = [429, 502, 503, 504];

const firstBackOffMs = 250;
const maxBackOffMs = 10_000;
/** Longest `Retry-After` that is waited for, in milliseconds. */
const maxRetryAfterMs = 120_000;

/**
 * Returns the back-off before retry `number`, from 1, in milliseconds: doubled each time, with half
 * of it random.
 */
export function backOffMs(number: number, random: () => number): number {
  return Math.min(maxBackOffMs, firstBackOffMs * 2 ** (number - 1)) * (0.5 + random() / 2);
}

/**
 * Wraps `fetch` so that error responses, broken connections and responses that start too late
 * reject with a GleanerError. 416 is returned, because the caller requested the range.
 */
export function createFetch({ fetch, timeoutMs }: FetchOptions): typeof globalThis.fetch {
  return async (input, init = {}) => {
    const signal = init.signal ?? undefined;
    const maxMs = timeoutMs + waitMsOf(init.headers);
    const late = new AbortController();
    // Cleared once the response starts: a long body may take any time.
    const timer = setTimeout(() => late.abort(), maxMs);
    const anySignal = signal === undefined ? late.signal : AbortSignal.any([signal, late.signal]);
    try {
      const response = await fetch(input, { ...init, signal: anySignal });
      if (response.ok || response.status === 416) return response;
      throw await errorOf(response);
    } catch (error) {
      if (error instanceof GleanerError) throw error;
      signal?.throwIfAborted();
      const isLate = late.signal.aborted;
      const reason = isLate ? `no response within ${maxMs / 1000} s` : reasonOf(error);
      throw noResponse(String(input), reason, error);
    } finally {
      clearTimeout(timer);
    }
  };
}

/** Creates the error of a request without a response. */
function noResponse(url: string, reason: string, cause: unknown): GleanerError {
  const detail = `${new URL(url).origin} does not respond: ${reason}`;
  return new GleanerError({ status: 0, detail, cause });
}

/** Returns the time that a request asks the service to wait, in milliseconds. */
const waitMsOf = (headers: RequestInit['headers']): number =>
  Number(new Headers(headers).get(waitMetadata) ?? 0) * 1000;

/** Options of createRetry(). */
export interface RetryOptions {
  clock: ClientClock;
  /** Maximum attempts of a repeatable call, the first one included. */
  maxAttempts: number;
  /** Returns a number from 0 to 1. */
  random: () => number;
}

/**
 * Repeats a repeatable call while its errors are transient. Rejects with the last error, or the
 * signal's reason.
 */
export type Retry = <Result>(
  call: () => Promise<Result>,
  options: { isRepeatable: boolean; signal?: AbortSignal | undefined },
) => Promise<Result>;

/** Creates the retry of a client. */
export function createRetry({ clock, maxAttempts, random }: RetryOptions): Retry {
  const delayOf = (error: unknown, attempt: number): number | undefined => {
    if (!(error instanceof GleanerError) || !isTransient(error)) return undefined;
    if (error.retryAfterMs === undefined) return backOffMs(attempt, random);
    return error.retryAfterMs > maxRetryAfterMs ? undefined : error.retryAfterMs;
  };
  return async (call, { isRepeatable, signal }) => {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await call();
      } catch (error) {
        const delayMs = delayOf(error, attempt);
        if (!isRepeatable || attempt >= maxAttempts || delayMs === undefined) throw error;
        await clock.sleep(delayMs, signal);
      }
    }
  };
}

/**
 * Returns true if the same call may succeed later. 409 with `Retry-After` means that an earlier
 * request with the same idempotency key has not ended yet.
 */
export function isTransient({ status, retryAfterMs }: GleanerError): boolean {
  return (
    status === 0 || transient.includes(status) || (status === 409 && retryAfterMs !== undefined)
  );
}

/** Source of time for the client. */
export interface ClientClock {
  /** Returns the time in milliseconds since the epoch, UTC. */
  now(): number;
  /** Resolves after `ms` milliseconds; rejects with the signal's reason if it aborts first. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** Clock of the platform, in browsers and in Node. */
export const platformClock: ClientClock = {
  now: () => Date.now(),
  sleep: (ms, signal) =>
    new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason as Error);
      const abort = () => {
        clearTimeout(timer);
        reject(signal?.reason as Error);
      };
      const timer = setTimeout(() => {
        signal?.removeEventListener('abort', abort);
        resolve();
      }, ms);
      signal?.addEventListener('abort', abort, { once: true });
    }),
};
