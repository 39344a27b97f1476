/** Headers of an answer that the core fills while it works on a call: names in lower case. */
export type AnswerHeaders = Record<string, string>;

/** Credits that the caller has once the call is done. */
export const creditsHeader = 'x-credits-remaining';

/** Names what the answer shows: another tag, another state of the job. */
export const tagHeader = 'etag';

/** What is left of an API key's rate, where it is limited: see src/access/rate-limit.ts. */
export const rateHeaderNames: readonly string[] = [
  'ratelimit-policy',
  'ratelimit',
  'x-ratelimit-limit',
  'x-ratelimit-remaining',
  'x-ratelimit-reset',
];

/** The headers that a core's answer to an RPC can carry, for edges that pass them on. */
export const answerHeaderNames: readonly string[] = [creditsHeader, tagHeader, ...rateHeaderNames];

/** Copies the headers that a core's response to an RPC carries into `into`. */
export function takeAnswerHeaders(from: Headers, into: AnswerHeaders): AnswerHeaders {
  for (const name of answerHeaderNames) {
    const value = from.get(name);
    if (value !== null) into[name] = value;
  }
  return into;
}
