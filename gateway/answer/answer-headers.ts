import type { Schema } from '../openapi/schemas.ts';

const header = (description: string, schema: Schema): Schema => ({ description, schema });
const text = { type: 'string' };
const count = { type: 'integer', minimum: 0 };
const whenLimited = 'Where the rate of requests is limited';

/** Headers of answers in the OpenAPI document, by component name. */
export const headerComponents: Record<string, Schema> = {
  RequestId: header('Id of the request, which the logs carry, too.', text),
  CreditsRemaining: header('Credits on the account once the request is done.', { type: 'integer' }),
  RateLimitPolicy: header(
    `${whenLimited}: \`"key";q=<requests>;w=<seconds>\`, the quota of an API key and its window (IETF draft ratelimit-headers).`,
    text,
  ),
  RateLimit: header(
    `${whenLimited}: \`"key";r=<requests>;t=<seconds>\`, what is left of the quota and when all of it is there again.`,
    text,
  ),
  XRateLimitLimit: header(`${whenLimited}: the quota of an API key.`, count),
  XRateLimitRemaining: header(`${whenLimited}: what is left of the quota.`, count),
  XRateLimitReset: header(`${whenLimited}: seconds from now until all of the quota is there again.`, count),
  Tag: header(
    'Names what the answer shows, for `If-None-Match`. Weak: links are signed anew each time.',
    text,
  ),
  Location: header('Path where the job is seen, in the address form of the request.', text),
  CacheControl: header('How long the answer may be kept.', text),
};

const refer = (name: string): Schema => ({ $ref: `#/components/headers/${name}` });

/** Header that every answer has. */
export const requestIdHeader: Schema = { 'X-Request-Id': refer('RequestId') };

/** Headers of every answer to a caller whose key is known. */
export const callerHeaders: Schema = {
  ...requestIdHeader,
  'X-Credits-Remaining': refer('CreditsRemaining'),
  RateLimit: refer('RateLimit'),
  'RateLimit-Policy': refer('RateLimitPolicy'),
  'X-RateLimit-Limit': refer('XRateLimitLimit'),
  'X-RateLimit-Remaining': refer('XRateLimitRemaining'),
  'X-RateLimit-Reset': refer('XRateLimitReset'),
};

/** Header of answers that are known by a tag. */
export const tagHeaders: Schema = { ETag: refer('Tag') };

/** Header of answers that began a job. */
export const locationHeaders: Schema = { Location: refer('Location') };

/** Header of answers that may be kept. */
export const cacheHeaders: Schema = { 'Cache-Control': refer('CacheControl') };

/** The request header that spares a known answer. */
export const ifNoneMatch: Schema = {
  name: 'If-None-Match',
  in: 'header',
  description: 'Tags of answers at hand: 304 without a body where one of them still holds.',
  schema: text,
};

/** The query parameter of methods that wait for their job. */
export const waitParameter: Schema = {
  name: 'wait',
  in: 'query',
  description:
    'Seconds to wait, 60 at most: answers once the job has ended or, with `If-None-Match`, once the answer is another one; at the latest when the time is over, with what is then.',
  schema: { type: 'string', pattern: '^(0|[1-9]|[1-5][0-9]|60)s?$', examples: ['30s'] },
};
