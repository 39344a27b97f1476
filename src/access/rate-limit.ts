import { createBoundedMap } from '../base/bounded-map.ts';
import type { Clock } from '../base/clock.ts';
import { Fault } from '../contract/fault.ts';
import { creditsHeader } from '../contract/response-headers.ts';
import type { Principal } from './principal.ts';

export interface RateLimitOptions {
  /**
   * Requests per second of one user, with all API keys and the test account, across all processes.
   */
  requestsPerSecond: number;
  clock: Clock;
  /** Number of processes that serve callers; each allows its share of the rate. Default: 1. */
  processes?: () => number;
}

/** Fields of a caller that determine its limit. */
type LimitedCaller = Pick<Principal, 'holderId' | 'role' | 'balance'>;

/**
 * Limits the requests of each user: another key or a test account adds none. Operators are not
 * limited.
 */
export interface RateLimit {
  /**
   * Counts a request and returns response headers with the remaining quota. Throws `rate_limited`.
   */
  take(caller: LimitedCaller): Readonly<Record<string, string>>;
  /** Same as take(), without counting the request. */
  check(caller: LimitedCaller): Readonly<Record<string, string>>;
}

interface Bucket {
  tokens: number;
  at: number;
}

const maxBytes = 8 * 1024 * 1024;
const bucketBytes = 32;
const noHeaders = {};

/**
 * Creates a token bucket per user. A bucket holds the requests of one second (at least one) and
 * refills continuously. Headers: `RateLimit-Policy` and `RateLimit` as structured fields
 * (draft-ietf-httpapi-ratelimit-headers-11: quota and window, remaining requests, and seconds until
 * the quota is full), and `X-RateLimit-…` with the reset in seconds. They state the quota of all
 * processes; the remaining requests are estimated from this process's share.
 */
export function createRateLimit({
  requestsPerSecond,
  clock,
  processes = () => 1,
}: RateLimitOptions): RateLimit {
  const quota = Math.floor(Math.max(1, requestsPerSecond));
  const windowSeconds = Math.max(1, Math.ceil(1 / requestsPerSecond));
  const policy = `"key";q=${quota};w=${windowSeconds}`;
  const buckets = createBoundedMap<Bucket>({ maxBytes, sizeOf: () => bucketBytes });

  const count = ({ holderId, role, balance }: LimitedCaller, cost: 0 | 1) => {
    if (role !== 'user') return noHeaders;
    const parts = Math.max(1, processes());
    const rate = requestsPerSecond / parts;
    const capacity = Math.max(1, rate);
    const now = clock.steady();
    let bucket = buckets.get(holderId);
    if (bucket === undefined) {
      bucket = { tokens: capacity, at: now };
      buckets.set(holderId, bucket);
    }
    bucket.tokens = Math.min(
      capacity,
      bucket.tokens + (Math.max(0, now - bucket.at) / 1000) * rate,
    );
    bucket.at = now;
    const missing = 1 - bucket.tokens;
    if (missing <= 0) bucket.tokens -= cost;
    const remaining = bucket.tokens < 1 ? 0 : Math.min(quota, Math.floor(bucket.tokens * parts));
    const reset = Math.ceil((capacity - bucket.tokens) / rate);
    const headers = {
      'ratelimit-policy': policy,
      ratelimit: `"key";r=${remaining};t=${reset}`,
      'x-ratelimit-limit': String(quota),
      'x-ratelimit-remaining': String(remaining),
      'x-ratelimit-reset': String(reset),
    };
    if (missing <= 0) return headers;
    throw new Fault('rate_limited', `More than ${requestsPerSecond} requests per second`, {
      retryAfterMs: (missing / rate) * 1000,
      headers: { ...headers, [creditsHeader]: String(balance) },
    });
  };

  return {
    take: (principal) => count(principal, 1),
    check: (principal) => count(principal, 0),
  };
}
