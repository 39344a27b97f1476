import type { Fault, FaultCode } from '../contract/fault.ts';
import type { PageAnswer } from './page.ts';
import { retryAfterMs } from './retry-after.ts';

/** What a request came to, as far as its origin is concerned. */
export type Verdict =
  /** The site answered as it should. */
  | { sort: 'well' }
  /** It throttled or blocked. `asked`: the site said itself to stay away, for `waitMs` if it said so. */
  | { sort: 'refused'; reason: string; asked: boolean; waitMs: number | undefined }
  /** No answer came, or one of a site that does not work. */
  | { sort: 'failed'; reason: string }
  /** There was an answer that says nothing of the origin. */
  | { sort: 'other' }
  /** There was no request. */
  | { sort: 'none' };

const sorts: Partial<Record<FaultCode, Verdict['sort']>> = {
  page_not_found: 'well',
  page_private: 'well',
  page_mismatch: 'well',
  page_blocked: 'refused',
  page_login: 'refused',
  page_throttled: 'refused',
  page_timeout: 'failed',
  page_failed: 'failed',
  network: 'failed',
  page_region: 'other',
  page_empty: 'other',
  page_unreadable: 'other',
  page_too_large: 'other',
};

/** What the fault of a reader or a fetch tells of the origin. */
export function verdictOf(fault: Fault): Verdict {
  const sort = sorts[fault.code] ?? 'none';
  if (sort === 'failed') return { sort, reason: fault.code };
  if (sort !== 'refused') return { sort };
  const { code: reason, retryAfterMs: waitMs } = fault;
  return { sort, reason, asked: fault.code === 'page_throttled' && waitMs !== undefined, waitMs };
}

/** The verdict of statuses that say "leave me alone" whatever the page; null for all others. */
export function verdictOfStatus({ status, headers }: PageAnswer, now: number): Verdict | null {
  const throttles = status === 429 || status === 430 || (status === 503 && headers['retry-after']);
  if (!throttles) return null;
  return { sort: 'refused', reason: `status ${status}`, asked: true, waitMs: retryAfterMs(headers, now) };
}

const words: Readonly<Record<string, string>> = {
  page_blocked: 'blocked',
  page_login: 'blocked',
  page_throttled: 'throttled',
};

/** A reason in words: "blocked (page_blocked)". */
export function inWords(reason: string): string {
  return `${words[reason] ?? (reason.startsWith('status') ? 'throttled' : 'not answering')} (${reason})`;
}
