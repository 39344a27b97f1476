import type { DescService, Message } from '@bufbuild/protobuf';
import type { Fault } from '../src/contract/fault.ts';
import type { DeclaredEndpoint, ServedEndpoint } from './endpoint.ts';
import type { DocumentOptions } from './openapi/document-options.ts';
import type { Schema } from './openapi/schemas.ts';
import type { ReadRequest } from './request/request-reader.ts';
import type { ErrorResponse } from './response/errors.ts';

/** Writes a response message as JSON text. The query may select its form. */
export type WriteResponse = (message: Message, query?: URLSearchParams) => string;

/** Writes the messages of a response as pieces of its body. */
export type WriteStream = (
  messages: AsyncIterable<Message>,
  query: URLSearchParams,
) => AsyncIterable<BodyPiece>;

/** Part of a response body; the first one has the media type. */
export interface BodyPiece {
  readonly contentType: string;
  readonly data: Uint8Array;
}

/** Response errors of a dialect. */
export interface ErrorForm {
  /** Returns the fault that a thrown value stands for. */
  faultOf(thrown: unknown): Fault;
  errorResponse(fault: Fault, requestId: string): ErrorResponse;
  /** Returns the body of a response with status 405. */
  methodNotAllowed(text: string, requestId: string): string;
}

/** Mapping of annotated methods and their messages to HTTP. */
export interface Dialect extends ErrorForm {
  /** Whether a path that matches no template is matched again with its %2F as slashes. */
  readonly splitsEscapedSlashes: boolean;
  /**
   * Returns the endpoints of services. Throws an Error that names the method whose declaration is invalid.
   */
  endpointsOf(services: readonly DescService[]): DeclaredEndpoint[];
  requestReader(endpoint: ServedEndpoint): ReadRequest;
  /** Returns the writer of responses, or undefined for those that are written as a stream. */
  responseWriter(endpoint: ServedEndpoint): WriteResponse | undefined;
  streamWriter(endpoint: ServedEndpoint): WriteStream;
  /** Loads the writer of OpenAPI documents, which is large. */
  loadDocument(): Promise<(options: DocumentOptions) => Schema | Promise<Schema>>;
}
