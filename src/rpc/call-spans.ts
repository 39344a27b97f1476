import type { DescMethod } from '@bufbuild/protobuf';
import { Code, type ConnectError, type Interceptor, ConnectError as RpcError } from '@connectrpc/connect';
import { attribute } from '../telemetry/attributes.ts';
import { currentTrace, failSpan, inSpan, recordedSpan } from '../telemetry/trace.ts';

/** Returns the name of a method as in the path of a call: "gleaner.account.v1.AccountService/GetAccount". */
export const methodPath = (method: DescMethod): string => `${method.parent.typeName}/${method.name}`;

/** Codes for which a server is to blame, by the conventions of OpenTelemetry. */
const serverErrors: ReadonlySet<Code> = new Set([
  Code.Unknown,
  Code.DeadlineExceeded,
  Code.Unimplemented,
  Code.Internal,
  Code.Unavailable,
  Code.DataLoss,
]);

/** Returns the name of a code: "NOT_FOUND". */
const statusOf = (code: Code): string => Code[code].replaceAll(/(?<=[a-z])(?=[A-Z])/g, '_').toUpperCase();

/** Records the error of a served call in the active span, and returns it. */
export function recordCallError(error: ConnectError): ConnectError {
  const span = recordedSpan();
  if (span !== undefined) {
    const status = statusOf(error.code);
    span.setAttribute(attribute.rpcStatus, status);
    if (serverErrors.has(error.code)) failSpan(span, status);
  }
  return error;
}

/** Interceptor of a client: each call has a span, whose context it sends to the server. */
export const traceOutgoing: Interceptor = (next) => (request) => {
  const name = methodPath(request.method);
  const attributes = { [attribute.rpcSystem]: 'grpc', [attribute.rpcMethod]: name };
  const errorType = (error: unknown) => statusOf(RpcError.from(error).code);
  return inSpan(name, { kind: 'client', attributes, errorType }, () => {
    for (const [header, value] of Object.entries(currentTrace())) request.header.set(header, value);
    return next(request);
  });
};
