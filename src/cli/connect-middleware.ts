import type { ConnectRouter } from '@connectrpc/connect';
import { expressConnectMiddleware } from '@connectrpc/connect-express';

/** Serves Connect routes over Connect and gRPC-Web on the gateway's port, for browsers and the console. */
export function connectMiddleware(routes: (router: ConnectRouter) => void) {
  return expressConnectMiddleware({ routes, readMaxBytes: 32 * 1024 * 1024 });
}
