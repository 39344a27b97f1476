import { requestIdHeader } from './headers.ts';
import type { Schema } from './schemas.ts';

const reference = (name: string): Schema => ({ $ref: `#/components/schemas/${name}` });

const errors: Record<number, { description: string; schema: string; headers?: Schema }> = {
  400: {
    description: 'The request cannot be read: invalid JSON, encoding or token.',
    schema: 'ErrorResponse',
  },
  401: {
    description: 'The API key is missing or not valid.',
    schema: 'ErrorResponse',
    headers: { 'WWW-Authenticate': { schema: { type: 'string' } } },
  },
  402: { description: 'The balance is below the cost.', schema: 'QuotaErrorResponse' },
  403: { description: 'The key, or the link, does not allow this.', schema: 'ErrorResponse' },
  404: { description: 'Not found, or of another user.', schema: 'ErrorResponse' },
  409: { description: 'Conflicts with an earlier request.', schema: 'ErrorResponse' },
  410: { description: 'The results were deleted.', schema: 'ErrorResponse' },
  413: { description: 'The body is too large.', schema: 'ErrorResponse' },
  415: { description: 'The content type or encoding is not supported.', schema: 'ErrorResponse' },
  416: { description: 'The range is not in the file.', schema: 'ErrorResponse' },
  422: {
    description: 'The request has problems; up to 100 are listed.',
    schema: 'HTTPValidationError',
  },
  429: {
    description: 'The rate limit of the key is exceeded.',
    schema: 'ErrorResponse',
    headers: {
      'Retry-After': { description: 'Seconds to wait.', schema: { type: 'integer', minimum: 1 } },
    },
  },
  431: {
    description: 'The URL and the headers together exceed 16 KiB.',
    schema: 'UnreadErrorResponse',
  },
  500: { description: 'Internal error.', schema: 'ErrorResponse' },
  502: { description: 'A component of the service is unavailable.', schema: 'ErrorResponse' },
  503: {
    description: 'The service is starting, or accepts no work at the moment.',
    schema: 'ErrorResponse',
    headers: {
      'Retry-After': { description: 'Seconds to wait.', schema: { type: 'integer', minimum: 1 } },
    },
  },
};

/** A request without a caller has no headers of one, and one that cannot be read has no id. */
function headersOf(status: string, caller: Schema): Schema {
  if (status === '431') return {};
  return status === '401' ? requestIdHeader : caller;
}

/** Returns the components of every error response, by name: see errorResponses(). */
export const errorComponents = ({ caller }: { caller: Schema }): Record<string, Schema> =>
  Object.fromEntries(
    Object.entries(errors).map(([status, { description, schema, headers }]) => [
      `Error${status}`,
      {
        description,
        headers: { ...headersOf(status, caller), ...headers },
        content: { 'application/json': { schema: reference(schema), example: examples[schema] } },
      },
    ]),
  );

const generic: Record<string, Schema> = {
  detail: { type: 'string', description: 'The error in words.' },
  code: { type: 'string', description: 'Code of the error: `not_found`, `rate_limited`, …' },
  request_id: { type: 'string', description: 'Id of the request, as in `X-Request-Id`.' },
};

/** Shapes of the error bodies: see docs/errors.md. */
export const errorSchemas: Record<string, Schema> = {
  ErrorResponse: {
    type: 'object',
    properties: generic,
    required: Object.keys(generic),
  },
  // The request was not read, so it has no id.
  UnreadErrorResponse: {
    type: 'object',
    properties: { detail: generic.detail!, code: generic.code! },
    required: ['detail', 'code'],
  },
  QuotaErrorResponse: {
    type: 'object',
    properties: {
      ...generic,
      required: { type: 'integer', description: 'Credits needed.' },
      current: {
        type: 'integer',
        description: 'Credits on the account, or left of the ceiling of the key.',
      },
      shortfall: {
        type: 'integer',
        description:
          'required - current. Negative if the credits suffice, but the call limits its cost.',
      },
    },
    required: [...Object.keys(generic), 'required', 'current', 'shortfall'],
  },
  ValidationError: {
    type: 'object',
    properties: {
      loc: {
        type: 'array',
        items: { type: ['string', 'integer'] },
        description: 'First `body`, `path`, `query` or `header`, then names and indexes.',
      },
      msg: { type: 'string', description: 'The problem, with the value.' },
      type: {
        type: 'string',
        description: 'Type of the problem: `missing`, `string_type`, `too_long`, …',
      },
    },
    required: ['loc', 'msg', 'type'],
  },
  HTTPValidationError: {
    type: 'object',
    properties: { ...generic, detail: { type: 'array', items: reference('ValidationError') } },
    required: Object.keys(generic),
  },
};

const request_id = '4f0c1d7e-8b2a-4e6f-9a3c-5d7e1f2b4a68';

const examples: Record<string, unknown> = {
  ErrorResponse: { detail: 'The error in words.', code: 'not_found', request_id },
  UnreadErrorResponse: {
    detail: 'Request Header Fields Too Large: the request cannot be read',
    code: 'malformed',
  },
  QuotaErrorResponse: {
    detail: 'The balance is below the cost.',
    code: 'insufficient_credits',
    request_id,
    required: 100,
    current: 40,
    shortfall: 60,
  },
  HTTPValidationError: {
    detail: [{ loc: ['body', 'items', 0, 'item_id'], msg: 'Field required', type: 'missing' }],
    code: 'invalid',
    request_id,
  },
};

/** Returns references to the error responses of some statuses, in order. */
export function errorResponses(statuses: readonly number[]): Record<string, Schema> {
  const documented = [...new Set(statuses)]
    .filter((status) => status in errors)
    .toSorted((one, other) => one - other);
  return Object.fromEntries(
    documented.map((status) => [String(status), { $ref: `#/components/responses/Error${status}` }]),
  );
}
