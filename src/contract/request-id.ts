const valid = /^[A-Za-z0-9._:/+=@-]{1,128}$/;

/** Header that identifies a request in the response and in the log. */
export const requestIdHeader = 'x-request-id';

/** Returns the caller's request id if it is valid, otherwise a new one. */
export function requestIdOf(value: unknown): string {
  return typeof value === 'string' && valid.test(value) ? value : crypto.randomUUID();
}
