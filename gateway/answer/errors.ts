import type { Fault, FaultCode } from '../../src/contract/fault.ts';

/** An error as REST answers it (interface, "Errors" and "Generic models"). */
export interface ErrorAnswer {
  status: number;
  headers: Record<string, string>;
  body: object;
}

const statuses: Record<FaultCode, number> = {
  unauthenticated: 401,
  forbidden: 403,
  insufficient_credits: 402,
  not_found: 404,
  conflict: 409,
  invalid: 422,
  malformed: 400,
  too_large: 413,
  unsupported_media: 415,
  rate_limited: 429,
  link_invalid: 403,
  starting: 503,
  unavailable: 502,
  disk_full: 503,
  internal: 500,
  page_not_found: 502,
  page_blocked: 502,
  page_login: 502,
  page_private: 502,
  page_region: 502,
  page_throttled: 502,
  page_empty: 502,
  page_unreadable: 502,
  page_mismatch: 502,
  page_failed: 502,
  page_too_large: 502,
  page_timeout: 502,
  network: 502,
  proxy_failed: 502,
  origin_missing: 502,
  address_refused: 502,
  robots_disallowed: 502,
  origin_paused: 502,
  browser_missing: 502,
  browser_failed: 502,
  not_queued: 502,
  work_abandoned: 502,
  terminated: 409,
  rejected: 409,
};

/** The HTTP answer of a fault. What an `internal` fault says stays in the log. */
export function errorAnswer(fault: Fault, requestId: string): ErrorAnswer {
  const status = statuses[fault.code];
  const headers: Record<string, string> = { ...fault.headers };
  if (status === 401) headers['www-authenticate'] = 'Bearer';
  if (fault.retryAfterMs !== undefined)
    headers['retry-after'] = String(Math.max(1, Math.ceil(fault.retryAfterMs / 1000)));
  return { status, headers, body: bodyOf(fault, requestId) };
}

function bodyOf(fault: Fault, requestId: string): object {
  switch (fault.code) {
    case 'internal':
      return { detail: `Internal error; request id ${requestId}` };
    case 'insufficient_credits': {
      const { required, current } = fault.quota ?? { required: 0, current: 0 };
      return { detail: fault.message, required, current, shortfall: required - current };
    }
    case 'invalid': {
      const whole = [{ loc: ['body'], msg: fault.message, type: 'value_error' }];
      return {
        detail: (fault.problems.length > 0 ? fault.problems : whole).map(({ loc, msg, type }) => ({
          loc,
          msg,
          type,
        })),
      };
    }
    default:
      return { detail: fault.clientMessage };
  }
}
