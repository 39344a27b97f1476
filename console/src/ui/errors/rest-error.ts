import { ignoredFieldsHeader, warningHeader } from '../../../../src/contract/response-headers.ts';
/** Problem of an invalid request, as the REST API reports it. */
export interface RestProblem {
  loc: (string | number)[];
  msg: string;
}

/** Error response of the REST API; the message is its `detail`. */
export class RestError extends Error {
  readonly status: number;
  readonly title: string;
  readonly problems: readonly RestProblem[];

  constructor(
    status: number,
    title: string,
    message: string,
    problems: readonly RestProblem[] = [],
  ) {
    super(message);
    this.name = 'RestFault';
    this.status = status;
    this.title = title;
    this.problems = problems;
  }
}

export async function readRestError(response: Response): Promise<RestError> {
  const text = await response.text();
  const title = `${response.status} ${response.statusText}`.trim();
  try {
    const { detail } = JSON.parse(text) as { detail: string | RestProblem[] };
    if (typeof detail === 'string') return new RestError(response.status, title, detail);
    const message =
      detail.length === 1 ? detail[0]!.msg : `The request has ${detail.length} problems.`;
    return new RestError(response.status, title, message, detail);
  } catch {
    return new RestError(
      response.status,
      title,
      text.slice(0, 300) || 'The response has no details.',
    );
  }
}

/** Messages of browsers for a network error. */
const networkError =
  /^(?:Failed to fetch|NetworkError when attempting to fetch resource\.?|Load failed)/;

/** Returns whether an error means that the browser cannot reach the service. */
export const isNetworkError = (message: string): boolean => networkError.test(message);

/** Explanation of a network error. */
export const unreachable =
  'Cannot reach the service. Check that it is running and that you are online.';

/** Replaces the service's terms for credentials with the console's. */
export const keyMessage = (message: string): string =>
  message.replace(
    'The API key is missing: send the header Authorization: Bearer <key>.',
    'The session has ended. Sign in again.',
  );

/** Explains the error of a REST call. */
export function explainRestError(thrown: unknown): string {
  const { message } = thrown as Error;
  if (thrown instanceof RestError) return thrown.status === 401 ? keyMessage(message) : message;
  return isNetworkError(message) ? unreachable : message;
}

/**
 * Returns the warnings of a successful response: that of the service, and the fields that it
 * ignored.
 */
export function readWarnings(headers: Headers): string[] {
  const warning = headers.get(warningHeader);
  const ignored = headers.get(ignoredFieldsHeader);
  const warnings: string[] = [];
  if (warning !== null) warnings.push(warning);
  if (ignored !== null)
    warnings.push(`Unknown fields were ignored: ${decodeURIComponent(ignored)}`);
  return warnings;
}
