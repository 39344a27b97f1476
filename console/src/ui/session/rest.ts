import { describeError } from '../errors/describe.ts';
import { readRestError, readWarnings } from '../errors/rest-error.ts';
import { showWarning } from '../errors/toast.ts';
import { currentSession } from './session.ts';
import { csrfHeader, sessionRejected } from './sign-in.ts';

/**
 * Sends a REST request in the session and shows the warnings of the response, unless
 * `showsWarnings` is false. Throws a RestError for an error response; a rejected session ends the
 * session.
 */
export async function fetchRest(
  path: string,
  init: RequestInit = {},
  { showsWarnings = true } = {},
): Promise<Response> {
  const session = currentSession();
  const headers = new Headers(init.headers);
  headers.set(csrfHeader, session?.csrfToken ?? '');
  const response = await fetch(path, { ...init, headers });
  if (response.ok) {
    if (showsWarnings) readWarnings(response.headers).forEach(showWarning);
    return response;
  }
  const error = await readRestError(response);
  if (response.status === 401 && session)
    await sessionRejected(session, describeError(error).detail);
  throw error;
}

/** Returns the path and query of a link, for the origin that serves the console. */
export function sameOriginPath(link: string): string {
  const { pathname, search } = new URL(link, location.origin);
  return pathname + search;
}
