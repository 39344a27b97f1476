import { createHash } from 'node:crypto';
import type { Clock } from '../../src/base/clock.ts';
import { Fault } from '../../src/base/fault.ts';

/** Counts a request of an API key and tells how the key stands then. */
export type RateLimit = (authorization: string) => RateState;

/** How an API key stands after a request. */
export interface RateState {
  /** What tells the client, names in lower case. */
  headers: Record<string, string>;
  /** `rate_limited` with when to come back, for a request over the limit. */
  refused: Fault | null;
}

const maxKeys = 10_000;

/**
 * A limit of requests per second for each API key: a bucket that holds one second's worth (at least
 * one request) and fills evenly (decisions, "request rate"). Headers: `RateLimit-Policy` and `RateLimit` as
 * structured fields (draft-ietf-httpapi-ratelimit-headers-11: quota and window, what remains and the seconds
 * until all of it is there again), and the same as `X-RateLimit-…` with the reset in seconds from now.
 */
export function createRateLimit(requestsPerSecond: number, clock: Clock): RateLimit {
  const capacity = Math.max(1, requestsPerSecond);
  const quota = Math.floor(capacity);
  const windowSeconds = Math.max(1, Math.ceil(1 / requestsPerSecond));
  const policy = `"key";q=${quota};w=${windowSeconds}`;
  const buckets = new Map<string, { tokens: number; at: number }>();

  const stateOf = (tokens: number, refused: Fault | null): RateState => {
    const remaining = Math.floor(tokens);
    const reset = Math.ceil((capacity - tokens) / requestsPerSecond);
    return {
      headers: {
        'ratelimit-policy': policy,
        ratelimit: `"key";r=${remaining};t=${reset}`,
        'x-ratelimit-limit': String(quota),
        'x-ratelimit-remaining': String(remaining),
        'x-ratelimit-reset': String(reset),
      },
      refused,
    };
  };

  return (authorization) => {
    // Keys are secrets: not kept as they are.
    const key = createHash('sha256').update(authorization).digest('base64');
    const now = clock.now();
    const bucket = buckets.get(key) ?? { tokens: capacity, at: now };
    bucket.tokens = Math.min(
      capacity,
      bucket.tokens + (Math.max(0, now - bucket.at) / 1000) * requestsPerSecond,
    );
    bucket.at = now;
    buckets.delete(key);
    buckets.set(key, bucket);
    if (buckets.size > maxKeys) buckets.delete(buckets.keys().next().value!);
    if (bucket.tokens < 1) {
      const fault = new Fault('rate_limited', `More than ${requestsPerSecond} requests per second`, {
        retryAfterMs: ((1 - bucket.tokens) / requestsPerSecond) * 1000,
      });
      return stateOf(bucket.tokens, fault);
    }
    bucket.tokens -= 1;
    return stateOf(bucket.tokens, null);
  };
}
