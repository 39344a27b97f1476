import type { IncomingMessage, ServerResponse } from 'node:http';
import type { RpcListener } from '../rpc/adapter.ts';

/** Serves Connect routes over Connect and gRPC-Web on the gateway's port, for browsers and the console. */
export function connectMiddleware(listener: RpcListener) {
  return (request: IncomingMessage, response: ServerResponse, next: () => void) =>
    listener(request, response, next);
}
