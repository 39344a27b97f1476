import { restFault } from '../fault/rest-fault.ts';
import { currentSession, endSession } from './session.ts';

/**
 * Asks the REST interface with the session's key. Throws a RestFault for any answer that is not good;
 * a refused key ends the session.
 */
export async function askRest(path: string, init: RequestInit = {}): Promise<Response> {
  const key = currentSession()?.key ?? '';
  const headers = new Headers(init.headers);
  headers.set('authorization', `Bearer ${key}`);
  const response = await fetch(path, { ...init, headers });
  if (response.ok) return response;
  const fault = await restFault(response);
  if (response.status === 401 && currentSession()?.key === key) endSession(fault.message);
  throw fault;
}

/** Where a link of this service is on the address that the console came from. */
export function ownPath(link: string): string {
  const { pathname, search } = new URL(link, location.origin);
  return pathname + search;
}
