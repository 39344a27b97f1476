/** Response headers that a call sets, by lower-case name. */
export type ResponseHeaders = Record<string, string>;

/** Remaining credits of the caller's account after the call. */
export const creditsHeader = 'x-credits-remaining';

/** Entity tag: identifies the state that a response shows. */
export const tagHeader = 'etag';

/** Warning about a call that succeeded, one ASCII sentence: see docs/api.md. */
export const warningHeader = 'x-gleaner-warning';

/** Names the unknown fields of a request, percent-encoded and separated by commas: see docs/api.md. */
export const ignoredFieldsHeader = 'x-ignored-fields';

/** Rate-limit headers, sent if an API key's rate is limited: see src/access/rate-limit.ts. */
const rateHeaderNames: readonly string[] = [
  'ratelimit-policy',
  'ratelimit',
  'x-ratelimit-limit',
  'x-ratelimit-remaining',
  'x-ratelimit-reset',
];

/** Headers of RPC responses that the edges forward. */
const responseHeaderNames: readonly string[] = [creditsHeader, tagHeader, warningHeader, ...rateHeaderNames];

/** Copies the forwarded headers of an RPC response into `into` and returns it. */
export function copyResponseHeaders(from: Headers, into: ResponseHeaders): ResponseHeaders {
  for (const name of responseHeaderNames) {
    const value = from.get(name);
    if (value !== null) into[name] = value;
  }
  return into;
}
