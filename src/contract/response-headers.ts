/** Response headers that a call sets, by lower-case name. */
export type ResponseHeaders = Record<string, string>;

const validRequestId = /^[A-Za-z0-9._:/+=@-]{1,128}$/;

/** Header that identifies a request in the response and in the log. */
export const requestIdHeader = 'x-request-id';

/** Returns the caller's request id if it is valid, otherwise a new one. */
export function requestIdOf(value: unknown): string {
  if (typeof value === 'string' && validRequestId.test(value)) return value;
  return crypto.randomUUID();
}

/** Remaining credits of the caller's account after the call. */
export const creditsHeader = 'x-credits-remaining';

/** Entity tag: identifies the state that a response shows. */
export const tagHeader = 'etag';

/** Warning about a call that succeeded, one ASCII sentence: see docs/api.md. */
export const warningHeader = 'x-gleaner-warning';

/**
 * Names the unknown fields of a request, percent-encoded and separated by commas: see docs/api.md.
 */
export const ignoredFieldsHeader = 'x-ignored-fields';

/** Server-Timing: how long a call waited for a job, as `wait;dur=<milliseconds>`. */
export const timingHeader = 'server-timing';

/** Name to save a response under. */
export const dispositionHeader = 'content-disposition';

/** Formats the timing header of a call that waited. */
export const formatWaited = (waitedMs: number): string => `wait;dur=${Math.round(waitedMs)}`;

/** Parses the timing header of a call; 0 without a wait. */
export function parseWaited(header: string): number {
  return Number(/^wait;dur=(\d+)$/.exec(header)?.[1] ?? 0);
}

/** Rate-limit headers, sent if an API key's rate is limited: see src/access/rate-limit.ts. */
export const rateHeaderNames: readonly string[] = [
  'ratelimit-policy',
  'ratelimit',
  'x-ratelimit-limit',
  'x-ratelimit-remaining',
  'x-ratelimit-reset',
];

/** Headers of RPC responses that the edges forward. */
const responseHeaderNames: readonly string[] = [
  creditsHeader,
  tagHeader,
  warningHeader,
  timingHeader,
  dispositionHeader,
  ...rateHeaderNames,
];

/** Copies the forwarded headers of an RPC response into `into` and returns it. */
export function copyResponseHeaders(from: Headers, into: ResponseHeaders): ResponseHeaders {
  for (const name of responseHeaderNames) {
    const value = from.get(name);
    if (value !== null) into[name] = value;
  }
  return into;
}
