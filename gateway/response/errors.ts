import type { Fault, Problem } from '../../src/contract/fault.ts';
import { faultStatuses } from '../../src/contract/fault-status.ts';

/** An error response of REST: see docs/errors.md. */
export interface ErrorResponse {
  status: number;
  headers: Record<string, string>;
  /** JSON text. */
  body: string;
}

/** Returns the HTTP response of a fault. The message of an `internal` fault is only logged. */
export function errorResponse(fault: Fault, requestId: string): ErrorResponse {
  const status = faultStatuses[fault.code];
  const headers: Record<string, string> = { ...fault.headers };
  if (status === 401) headers['www-authenticate'] = 'Bearer';
  if (fault.retryAfterMs !== undefined)
    headers['retry-after'] = String(Math.max(1, Math.ceil(fault.retryAfterMs / 1000)));
  return { status, headers, body: bodyOf(fault, requestId) };
}

/**
 * Returns the JSON text of an error: a readable message or the problems of the request, a code for
 * programs, and the request's id for the log.
 */
export function errorBody(
  detail: string | readonly Problem[],
  code: string,
  requestId: string,
  members: object = {},
): string {
  return JSON.stringify({
    detail,
    ...members,
    code,
    request_id: requestId,
  });
}

function bodyOf(fault: Fault, requestId: string): string {
  const { code } = fault;
  switch (code) {
    case 'internal':
      return errorBody(`Internal error; request id ${requestId}`, code, requestId);
    case 'insufficient_credits':
    case 'max_credits_exceeded': {
      const { required, current } = fault.quota ?? { required: 0, current: 0 };
      const quota = { required, current, shortfall: required - current };
      return errorBody(fault.message, code, requestId, quota);
    }
    case 'invalid': {
      const bodyProblems = [{ loc: ['body'], msg: fault.message, type: 'value_error' }];
      const problems = fault.problems.length > 0 ? fault.problems : bodyProblems;
      const listed = problems.map(({ loc, msg, type }) => ({ loc, msg, type }));
      return errorBody(listed, code, requestId);
    }
    default:
      return errorBody(fault.clientMessage, code, requestId);
  }
}
