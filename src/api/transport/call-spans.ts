import {
  Code,
  type ConnectError,
  type HandlerContext,
  type Interceptor,
  ConnectError as RpcError,
} from '@connectrpc/connect';
import { attribute } from '../../telemetry/attributes.ts';
import { methodPath, serverErrors } from '../../telemetry/metrics.ts';
import { currentTrace, failSpan, inSpan, recordedSpan } from '../../telemetry/trace.ts';
import { exchangeOf } from './exchange.ts';

/** Returns the gRPC status name of a code, such as "NOT_FOUND". */
export const statusOf = (code: Code): string =>
  code === Code.Canceled
    ? 'CANCELLED'
    : Code[code].replaceAll(/(?<=[a-z])(?=[A-Z])/g, '_').toUpperCase();

/** Records the error of a served call in its exchange and in the active span, and returns it. */
export function recordCallError(
  context: Pick<HandlerContext, 'values'>,
  error: ConnectError,
): ConnectError {
  const status = statusOf(error.code);
  exchangeOf(context).failure = status;
  const span = recordedSpan();
  if (span !== undefined) {
    span.setAttribute(attribute.rpcStatus, status);
    if (serverErrors.has(status)) failSpan(span, status);
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
