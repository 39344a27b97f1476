import type { Schema } from './schemas.ts';

const text = { type: 'string' };

const components: Record<string, Schema> = {
  'X-Request-Id': { description: 'Id of the request, as in the logs.', schema: text },
  ETag: {
    description:
      'Identifies the response for `If-None-Match`. Weak: links are signed for each response.',
    schema: text,
  },
  Location: {
    description: 'Path of what the request created, in the path form of the request.',
    schema: text,
  },
  'X-Ignored-Fields': {
    description:
      'Unknown fields of the request, percent-encoded and separated by commas, up to 20.',
    schema: text,
  },
  'Cache-Control': { description: 'How long the response may be cached.', schema: text },
};

const referTo = (names: readonly string[]): Schema =>
  Object.fromEntries(
    names.map((name) => [name, { $ref: `#/components/headers/${componentName(name)}` }]),
  );

const componentName = (name: string) => name.replaceAll('-', '');

/** Header of every response. */
export const requestIdHeader: Schema = referTo(['X-Request-Id']);

/**
 * Returns the headers of responses in the OpenAPI document. `ofCaller` are the headers that
 * sessions set, by name.
 */
export function documentHeaders(ofCaller: Readonly<Record<string, Schema>>) {
  const described = { ...components, ...ofCaller };
  return {
    components: Object.fromEntries(
      Object.entries(described).map(([name, header]) => [componentName(name), header]),
    ),
    /** Headers of every response to an authenticated caller. */
    caller: { ...requestIdHeader, ...referTo(Object.keys(ofCaller)) },
    /** Headers of responses to requests with a body or a query. */
    ignored: referTo(['X-Ignored-Fields']),
    /** Headers of responses with an entity tag. */
    tag: referTo(['ETag']),
    /** Headers of responses that created something. */
    location: referTo(['Location']),
    /** Headers of responses that may be cached. */
    cache: referTo(['Cache-Control']),
  };
}

/** Request header with which a client avoids receiving a response that it has. */
export const ifNoneMatch: Schema = {
  name: 'If-None-Match',
  in: 'header',
  description: 'Entity tags of known responses: 304 without a body where one of them is current.',
  schema: text,
};

/** Query parameter of methods that wait for a final state. */
export const waitParameter: Schema = {
  name: 'wait',
  in: 'query',
  description:
    'Seconds to wait, at most 60. Responds at the final state or, with `If-None-Match`, ' +
    'at the first change; when the time is over, with the current state.',
  schema: { type: 'string', pattern: '^(0|[1-9]|[1-5][0-9]|60)s?$', examples: ['30s'] },
};

/** Query parameter of methods that create something and wait for its final state. */
export const createdWaitParameter: Schema = {
  ...waitParameter,
  description:
    'Seconds to wait for the final state of what the request creates, at most 60. ' +
    'When the time is over, responds as without a wait.',
};
