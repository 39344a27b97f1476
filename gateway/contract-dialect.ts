import { endpointsOf } from '../src/contract/endpoint.ts';
import { Fault } from '../src/contract/fault.ts';
import { messageWriter } from '../src/contract/json/message-writer.ts';
import type { BodyPiece, Dialect } from './dialect.ts';
import { requestReader } from './request/request-reader.ts';
import { errorBody, errorResponse } from './response/errors.ts';

/**
 * Dialect of services that declare access, statuses, forms, and limits with the options of the contract
 * package: proto names, integers as numbers, and errors with `detail` and `code`.
 */
export const contractDialect: Dialect = {
  splitsEscapedSlashes: false,
  endpointsOf,
  requestReader,
  responseWriter: ({ streams, method }) => (streams ? undefined : messageWriter(method.output)),
  // endpointsOf() allows streams of google.api.HttpBody only.
  streamWriter: () => (messages) => messages as AsyncIterable<unknown> as AsyncIterable<BodyPiece>,
  faultOf: Fault.from,
  errorResponse,
  methodNotAllowed: (text, requestId) => errorBody(text, 'method_not_allowed', requestId),
  loadDocument: async () => (await import('./openapi/openapi.ts')).openApiDocument,
};
