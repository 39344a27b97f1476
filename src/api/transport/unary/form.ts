import type { ConnectError } from '@connectrpc/connect';
import {
  contentTypeUnaryJson,
  contentTypeUnaryProto,
  parseTimeout as parseConnectTimeout,
  parseContentType as parseConnectType,
} from '@connectrpc/connect/protocol-connect';
import {
  contentTypeJson as contentTypeGrpcJson,
  contentTypeProto as contentTypeGrpcProto,
  parseTimeout as parseGrpcTimeout,
  parseContentType as parseGrpcType,
} from '@connectrpc/connect/protocol-grpc';
import {
  contentTypeJson as contentTypeGrpcWebJson,
  contentTypeProto as contentTypeGrpcWebProto,
  parseContentType as parseGrpcWebType,
} from '@connectrpc/connect/protocol-grpc-web';

/** A protocol of unary calls, with the names of its headers. */
export interface UnaryProtocol {
  name: 'connect' | 'grpc' | 'grpc-web';
  /** True if messages have flags and a length before them. */
  isEnveloped: boolean;
  encodingHeader: string;
  acceptEncodingHeader: string;
  timeoutHeader: string;
  /** Returns the timeout in milliseconds, or the error for a text that is none. */
  parseTimeout(
    text: string | null,
    maxMs: number,
  ): { timeoutMs?: number; error?: ConnectError | undefined };
  binaryType: string;
  jsonType: string;
}

const connect: UnaryProtocol = {
  name: 'connect',
  isEnveloped: false,
  encodingHeader: 'content-encoding',
  acceptEncodingHeader: 'accept-encoding',
  timeoutHeader: 'connect-timeout-ms',
  parseTimeout: parseConnectTimeout,
  binaryType: contentTypeUnaryProto,
  jsonType: contentTypeUnaryJson,
};

const grpc: UnaryProtocol = {
  name: 'grpc',
  isEnveloped: true,
  encodingHeader: 'grpc-encoding',
  acceptEncodingHeader: 'grpc-accept-encoding',
  timeoutHeader: 'grpc-timeout',
  parseTimeout: parseGrpcTimeout,
  binaryType: contentTypeGrpcProto,
  jsonType: contentTypeGrpcJson,
};

const grpcWeb: UnaryProtocol = {
  ...grpc,
  name: 'grpc-web',
  binaryType: contentTypeGrpcWebProto,
  jsonType: contentTypeGrpcWebJson,
};

/** Protocol and codec of a unary call. */
export interface UnaryForm {
  protocol: UnaryProtocol;
  isBinary: boolean;
}

/** Returns the form of a call. Null if no protocol has unary calls with this content type. */
export function formOf(contentType = ''): UnaryForm | null {
  if (!contentType.startsWith('application/grpc')) {
    const type = parseConnectType(contentType);
    if (type && !type.stream) return { protocol: connect, isBinary: type.binary };
    return null;
  }
  const webType = parseGrpcWebType(contentType);
  if (webType) return webType.text ? null : { protocol: grpcWeb, isBinary: webType.binary };
  const type = parseGrpcType(contentType);
  return type ? { protocol: grpc, isBinary: type.binary } : null;
}
