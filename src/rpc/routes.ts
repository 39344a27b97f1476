import type { DescMethod, Message } from '@bufbuild/protobuf';
import type { ConnectRouter, HandlerContext } from '@connectrpc/connect';
import { Fault } from '../base/fault.ts';
import type { Log } from '../base/log.ts';
import type { Core } from './core.ts';
import { toConnectError } from './fault-detail.ts';

/**
 * Serves the core's services on a Connect router: gRPC, gRPC-Web and Connect alike. Errors carry a
 * gleaner.fault.v1.Fault; those of our own making are logged.
 */
export function routeCore(core: Core, log: Log): (router: ConnectRouter) => void {
  const call = async (context: HandlerContext) => ({
    principal: await core.authenticate(context.requestHeader.get('authorization')),
    // gRPC metadata spells it with an underscore (decisions, "idempotency").
    idempotencyKey:
      context.requestHeader.get('idempotency_key') ??
      context.requestHeader.get('idempotency-key') ??
      undefined,
    signal: context.signal,
  });
  const failed = (method: DescMethod, thrown: unknown) => {
    if (Fault.from(thrown).code === 'internal')
      log.error({ method: method.name, err: thrown }, 'call failed');
    return toConnectError(thrown);
  };
  return (router) => {
    for (const method of core.services.flatMap((service) => service.methods)) {
      if (method.methodKind === 'server_streaming') {
        router.rpc(method, async function* (request: Message, context: HandlerContext) {
          try {
            yield* core.stream(method, request, await call(context));
          } catch (error) {
            throw failed(method, error);
          }
        } as never);
      } else {
        router.rpc(method, (async (request: Message, context: HandlerContext) => {
          try {
            return await core.unary(method, request, await call(context));
          } catch (error) {
            throw failed(method, error);
          }
        }) as never);
      }
    }
  };
}
