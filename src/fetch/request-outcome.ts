import type { Fault, FaultCode } from '../contract/fault.ts';
import type { PageResponse } from './page.ts';
import { parseRetryAfter } from './retry-after.ts';

/** Outcome of a request from the origin's point of view. */
export type RequestOutcome =
  /** The site works, even if the requested page does not exist. */
  | { kind: 'succeeded' }
  /**
   * The site throttled or blocked the request. `explicit`: it asked for a pause, for `waitMs` if it
   * named a duration.
   */
  | { kind: 'refused'; reason: string; explicit: boolean; waitMs: number | undefined }
  /** No response arrived, or the site reported a failure. */
  | { kind: 'failed'; reason: string }
  /** The response does not show the state of the origin. */
  | { kind: 'inconclusive' }
  /** No request was sent. */
  | { kind: 'not_sent' };

const kinds: Partial<Record<FaultCode, RequestOutcome['kind']>> = {
  page_not_found: 'succeeded',
  page_private: 'succeeded',
  page_mismatch: 'succeeded',
  page_blocked: 'refused',
  page_login: 'refused',
  page_throttled: 'refused',
  page_timeout: 'failed',
  page_failed: 'failed',
  network: 'failed',
  page_region: 'inconclusive',
  page_empty: 'inconclusive',
  page_unreadable: 'inconclusive',
  page_too_large: 'inconclusive',
  page_too_complex: 'inconclusive',
};

/** Classifies the fault of a fetcher or a reader. */
export function classifyFault(fault: Fault): RequestOutcome {
  const kind = kinds[fault.code] ?? 'not_sent';
  if (kind === 'failed') return { kind, reason: fault.code };
  if (kind !== 'refused') return { kind };
  const { code: reason, retryAfterMs: waitMs } = fault;
  return {
    kind,
    reason,
    explicit: fault.code === 'page_throttled' && waitMs !== undefined,
    waitMs,
  };
}

/**
 * Classifies a status that means throttling on any page: 429, 430, or 503 with Retry-After. Returns
 * null for others.
 */
export function classifyStatus(
  { status, headers }: PageResponse,
  now: number,
): RequestOutcome | null {
  const throttles = status === 429 || status === 430 || (status === 503 && headers['retry-after']);
  if (!throttles) return null;
  return {
    kind: 'refused',
    reason: `status ${status}`,
    explicit: true,
    waitMs: parseRetryAfter(headers, now),
  };
}

const descriptions: Readonly<Record<string, string>> = {
  page_blocked: 'blocked',
  page_login: 'blocked',
  page_throttled: 'throttled',
};

/** Returns a human-readable reason for a pause: "blocked (page_blocked)". */
export function describePauseReason(reason: string): string {
  const description =
    descriptions[reason] ?? (reason.startsWith('status') ? 'throttled' : 'not responding');
  return `${description} (${reason})`;
}
