import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2';
import { type ContextValues, createContextKey, createContextValues } from '@connectrpc/connect';
import { type ResponseHeaders, requestIdHeader } from '../../contract/response-headers.ts';

export type RpcRequest = IncomingMessage | Http2ServerRequest;
export type RpcResponse = ServerResponse | Http2ServerResponse;

/** HTTP request and response of a call, and the state of the call. */
export interface RpcExchange {
  readonly request: RpcRequest;
  readonly response: RpcResponse;
  /** Response headers in addition to the protocol's. */
  readonly responseHeaders: ResponseHeaders;
  /** Id of the admitted user. Empty for a call without one. */
  userId: string;
  /** Ends the wait of the call early. Undefined for a call without a wait. */
  early: AbortSignal | undefined;
  /** Status of a call that failed, for its metrics. */
  failure: string | null;
}

const exchangeKey = createContextKey<RpcExchange | null>(null, {
  description: 'the HTTP exchange',
});

/** Creates the context values of a call. */
export const valuesOf = (exchange: RpcExchange): ContextValues =>
  createContextValues().set(exchangeKey, exchange);

/** Returns the exchange of a call that createRpcListener() serves. */
export const exchangeOf = ({ values }: { values: ContextValues }): RpcExchange =>
  values.get(exchangeKey)!;

/** Creates the exchange of a call that has a request id. */
export function createExchange(
  request: RpcRequest,
  response: RpcResponse,
  requestId: string,
): RpcExchange {
  return {
    request,
    response,
    responseHeaders: { [requestIdHeader]: requestId },
    userId: '',
    early: undefined,
    failure: null,
  };
}

/** Returns a header of a request by its lower-case name. */
export function headerOf(
  { headers }: Pick<RpcRequest, 'headers'>,
  name: string,
): string | undefined {
  const value = headers[name];
  return typeof value === 'string' ? value : undefined;
}
