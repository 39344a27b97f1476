import { callerHeaders, requestIdHeader } from '../answer/answer-headers.ts';
import type { Schema } from './schemas.ts';

const reference = (name: string): Schema => ({ $ref: `#/components/schemas/${name}` });

const errors: Record<number, { description: string; schema: string; headers?: Schema }> = {
  400: {
    description: 'The request can’t be read: bad JSON, bad encoding, or a token that is not valid.',
    schema: 'ErrorResponse',
  },
  401: {
    description: 'The API key is missing or not valid.',
    schema: 'ErrorResponse',
    headers: { 'WWW-Authenticate': { schema: { type: 'string' } } },
  },
  402: { description: 'The balance is below the cost.', schema: 'QuotaErrorResponse' },
  403: { description: 'The key, or the link, does not allow this.', schema: 'ErrorResponse' },
  404: { description: 'Not there, or not the caller’s.', schema: 'ErrorResponse' },
  409: { description: 'Conflicts with what was done before.', schema: 'ErrorResponse' },
  413: { description: 'The body is too large.', schema: 'ErrorResponse' },
  415: { description: 'The content type or encoding is not supported.', schema: 'ErrorResponse' },
  416: { description: 'The range is not in the file.', schema: 'ErrorResponse' },
  422: { description: 'The request has problems; up to 100 are listed.', schema: 'HTTPValidationError' },
  429: {
    description: 'Too many requests of this key.',
    schema: 'ErrorResponse',
    headers: { 'Retry-After': { description: 'Seconds to wait.', schema: { type: 'integer', minimum: 1 } } },
  },
  500: { description: 'A fault of the service.', schema: 'ErrorResponse' },
  502: { description: 'What the service needs is not available now.', schema: 'ErrorResponse' },
  503: {
    description: 'The service is starting, or accepts no jobs now.',
    schema: 'ErrorResponse',
    headers: { 'Retry-After': { description: 'Seconds to wait.', schema: { type: 'integer', minimum: 1 } } },
  },
};

/** Components of every error answer, by name: see errorResponses. */
export const errorComponents: Record<string, Schema> = Object.fromEntries(
  Object.entries(errors).map(([status, { description, schema, headers }]) => [
    `Error${status}`,
    {
      description,
      headers: { ...(status === '401' ? requestIdHeader : callerHeaders), ...headers },
      content: { 'application/json': { schema: reference(schema) } },
    },
  ]),
);

/** Shapes of the error bodies (interface, "Generic models"). */
export const errorSchemas: Record<string, Schema> = {
  ErrorResponse: {
    type: 'object',
    properties: { detail: { type: 'string', description: 'What is wrong.' } },
    required: ['detail'],
  },
  QuotaErrorResponse: {
    type: 'object',
    properties: {
      detail: { type: 'string', description: 'What is wrong.' },
      required: { type: 'integer', description: 'Credits needed.' },
      current: { type: 'integer', description: 'Credits on the account.' },
      shortfall: { type: 'integer', description: 'required - current.' },
    },
    required: ['detail', 'required', 'current', 'shortfall'],
  },
  ValidationError: {
    type: 'object',
    properties: {
      loc: {
        type: 'array',
        items: { type: ['string', 'integer'] },
        description: 'First `body`, `path`, `query` or `header`, then names and indexes.',
      },
      msg: { type: 'string', description: 'What is wrong, naming the value.' },
      type: { type: 'string', description: 'Sort of problem: `missing`, `string_type`, `too_long`, …' },
    },
    required: ['loc', 'msg', 'type'],
  },
  HTTPValidationError: {
    type: 'object',
    properties: { detail: { type: 'array', items: reference('ValidationError') } },
    required: ['detail'],
  },
};

/** References to the error answers of some statuses, in order. */
export function errorResponses(statuses: readonly number[]): Record<string, Schema> {
  const known = [...new Set(statuses)]
    .filter((status) => status in errors)
    .toSorted((one, other) => one - other);
  return Object.fromEntries(
    known.map((status) => [String(status), { $ref: `#/components/responses/Error${status}` }]),
  );
}
