import { expressConnectMiddleware } from '@connectrpc/connect-express';
import type { Log } from '../base/log.ts';
import type { Core } from '../rpc/core.ts';
import { routeCore } from '../rpc/routes.ts';

/** Serves the core's services over Connect and gRPC-Web on the gateway's port, for browsers and the console. */
export function connectMiddleware(core: Core, log: Log) {
  return expressConnectMiddleware({ routes: routeCore(core, log), readMaxBytes: 32 * 1024 * 1024 });
}
