import { basePath } from './base-path.ts';

/** Address of the browser's session. */
export const sessionAddress = `${basePath}/console/session`;

let first: Promise<Response> | undefined;

/** Requests the session of the browser, before the code that reads it is loaded. */
export function requestSession(): Promise<Response> {
  first = fetch(sessionAddress);
  return first;
}

/** Returns the response to requestSession(), once; undefined afterwards. */
export function takeFirstSession(): Promise<Response> | undefined {
  const response = first;
  first = undefined;
  return response;
}
