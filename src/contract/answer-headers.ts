/** Response headers that a call sets, by lower-case name. */
export type AnswerHeaders = Record<string, string>;

/** Credits on the caller's account after the call. */
export const creditsHeader = 'x-credits-remaining';

/** Entity tag: identifies the state that a response shows. */
export const tagHeader = 'etag';

/** Warning about a call that succeeded, one ASCII sentence: see docs/api.md. */
export const warningHeader = 'x-gleaner-warning';

/** What is left of an API key's rate, where it is limited: see src/access/rate-limit.ts. */
export const rateHeaderNames: readonly string[] = [
  'ratelimit-policy',
  'ratelimit',
  'x-ratelimit-limit',
  'x-ratelimit-remaining',
  'x-ratelimit-reset',
];

/** The headers that a core's answer to an RPC can carry, for edges that pass them on. */
export const answerHeaderNames: readonly string[] = [
  creditsHeader,
  tagHeader,
  warningHeader,
  ...rateHeaderNames,
];

/** Copies the headers that a core's response to an RPC carries into `into`. */
export function takeAnswerHeaders(from: Headers, into: AnswerHeaders): AnswerHeaders {
  for (const name of answerHeaderNames) {
    const value = from.get(name);
    if (value !== null) into[name] = value;
  }
  return into;
}
