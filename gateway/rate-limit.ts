import { createHash } from 'node:crypto';
import type { Clock } from '../src/base/clock.ts';
import { Fault } from '../src/base/fault.ts';

/** Counts a request of an API key. Fault: `rate_limited` with when to come back. */
export type RateLimit = (authorization: string) => void;

const maxKeys = 10_000;

/**
 * A limit of requests per second for each API key: a bucket that holds one second's worth (at least
 * one request) and fills evenly (decisions, "request rate").
 */
export function createRateLimit(requestsPerSecond: number, clock: Clock): RateLimit {
  const capacity = Math.max(1, requestsPerSecond);
  const buckets = new Map<string, { tokens: number; at: number }>();
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
      throw new Fault('rate_limited', `More than ${requestsPerSecond} requests per second`, {
        retryAfterMs: ((1 - bucket.tokens) / requestsPerSecond) * 1000,
      });
    }
    bucket.tokens -= 1;
  };
}
