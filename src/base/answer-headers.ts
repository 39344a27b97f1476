/** Headers of an answer that the core fills while it works on a call: names in lower case. */
export type AnswerHeaders = Record<string, string>;

/** Credits that the caller has once the call is done. */
export const creditsHeader = 'x-credits-remaining';

/** Names what the answer shows: another tag, another state of the job. */
export const tagHeader = 'etag';

/** The headers that a core's answer to an RPC can carry, for edges that pass them on. */
export const answerHeaderNames: readonly string[] = [creditsHeader, tagHeader];
