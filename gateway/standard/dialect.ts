import {
  createRegistry,
  type DescFile,
  type DescMethod,
  type DescService,
  type JsonValue,
  type JsonWriteOptions,
  type Message,
  type Registry,
  toJson,
} from '@bufbuild/protobuf';
import { file_google_rpc_error_details } from '../../gen/google/rpc/error_details_pb.ts';
import type { BodyPiece, Dialect } from '../dialect.ts';
import type { ServedEndpoint } from '../endpoint.ts';
import { bindingsOf } from './document.ts';
import { requestReader, wantsEnumNumbers } from './request.ts';
import { faultOf, StatusError, statusBody, statusResponse } from './status.ts';

export interface StandardDialectOptions {
  /** Ignores unknown members and query parameters instead of refusing them. Default: false. */
  ignoreUnknownFields?: boolean;
  /** Writes fields without presence that have their default value. Default: false. */
  alwaysEmitImplicit?: boolean;
  /** Writes proto names instead of lowerCamel names. Default: false. */
  useProtoFieldName?: boolean;
  /** Writes enums as numbers. Default: by name, or as `$alt=json;enum-encoding=int` requests. */
  enumAsInteger?: boolean;
  /**
   * Types that google.protobuf.Any may contain. Default: the types of the services' files and their imports.
   */
  registry?: Registry;
  /** Maximum request body, in bytes, before and after decompression. Default: 4 MB. */
  maxBodyBytes?: number;
}

/**
 * Creates the dialect of google.api.http and ProtoJSON (AIP-127): every annotated method as published,
 * lowerCamel names, 64-bit integers as strings, and errors as google.rpc.Status.
 */
export function standardDialect(options: StandardDialectOptions = {}): Dialect {
  const { ignoreUnknownFields = false, maxBodyBytes = 4 * 1024 * 1024 } = options;
  let registry = options.registry;
  const write = (message: Message, { method, responseBody }: ServedEndpoint, query?: URLSearchParams) => {
    const { alwaysEmitImplicit = false, useProtoFieldName = false, enumAsInteger = false } = options;
    return writeJson(message, method, responseBody ?? '', {
      ...{ registry, alwaysEmitImplicit, useProtoFieldName },
      enumAsInteger: enumAsInteger || wantsEnumNumbers(query),
    });
  };
  return {
    splitsEscapedSlashes: true,
    endpointsOf: (services) => {
      registry ??= createRegistry(...filesOf(services), file_google_rpc_error_details);
      return bindingsOf(services, maxBodyBytes);
    },
    requestReader: (endpoint) => requestReader(endpoint, { ignoreUnknownFields, registry }),
    responseWriter: (endpoint) =>
      endpoint.streams ? undefined : (message, query) => write(message, endpoint, query),
    streamWriter: (endpoint) => (messages, query) =>
      pieces(messages, endpoint, (message) => write(message, endpoint, query)),
    faultOf,
    errorResponse: (fault) => statusResponse(fault, registry),
    methodNotAllowed: (text) => statusBody(405, text, 'UNIMPLEMENTED'),
    loadDocument: async () => (await import('./document.ts')).standardDocument,
  };
}

function writeJson(
  message: Message,
  { output }: DescMethod,
  responseBody: string,
  options: Partial<JsonWriteOptions>,
): string {
  if (responseBody === '') return JSON.stringify(toJson(output, message, options));
  const field = output.fields.find(({ name }) => name === responseBody)!;
  const member = (all: Partial<JsonWriteOptions>) =>
    (toJson(output, message, all) as Record<string, JsonValue>)[
      options.useProtoFieldName ? field.name : field.jsonName
    ];
  // A field without presence that has its default value is a body nevertheless.
  const value = member(options) ?? member({ ...options, alwaysEmitImplicit: true });
  return JSON.stringify(value ?? (field.fieldKind === 'message' ? {} : null));
}

/**
 * Yields the body of a stream: the bytes of google.api.HttpBody, or a JSON array with an element per message.
 */
async function* pieces(
  messages: AsyncIterable<Message>,
  { method, responseBody }: ServedEndpoint,
  write: (message: Message) => string,
): AsyncGenerator<BodyPiece> {
  if (method.methodKind === 'client_streaming' || method.methodKind === 'bidi_streaming')
    throw new StatusError(
      12,
      `${method.parent.typeName}.${method.name} streams requests, which HTTP/1.1 JSON cannot`,
    );
  const field = method.output.fields.find(({ name }) => name === responseBody);
  const isBytes = (field === undefined ? method.output : field.message)?.typeName === 'google.api.HttpBody';
  let separator = '[';
  for await (const message of messages) {
    if (isBytes) {
      const body: unknown =
        field === undefined ? message : (message as unknown as Record<string, unknown>)[field.localName];
      yield (body ?? { contentType: '', data: new Uint8Array() }) as BodyPiece;
    } else {
      yield { contentType: 'application/json', data: Buffer.from(separator + write(message)) };
      separator = ',\n';
    }
  }
  if (!isBytes) yield { contentType: 'application/json', data: Buffer.from(separator === '[' ? '[]' : ']') };
}

function filesOf(services: readonly DescService[]): DescFile[] {
  const files = new Set<DescFile>();
  const add = (file: DescFile) => {
    if (files.has(file)) return;
    files.add(file);
    file.dependencies.forEach(add);
  };
  for (const { file } of services) add(file);
  return [...files];
}
