import type { DescMethod, Message } from '@bufbuild/protobuf';
import type { ConnectRouter, HandlerContext } from '@connectrpc/connect';
import { AccountService } from '../../gen/gleaner/account/v1/account_pb.ts';
import type { AnswerHeaders } from '../base/answer-headers.ts';
import { Fault } from '../base/fault.ts';
import type { Log } from '../base/log.ts';
import { requireWait, waitMetadata } from '../base/wait.ts';
import type { Core } from './core.ts';
import { toConnectError } from './fault-detail.ts';
import { admissionMetadata } from './remote.ts';

const getAccount: DescMethod = AccountService.method.getAccount;

/**
 * Serves the core's services on a Connect router: gRPC, gRPC-Web and Connect alike. Errors carry a
 * gleaner.fault.v1.Fault; those of our own making are logged.
 */
export function routeCore(core: Core, log: Log): (router: ConnectRouter) => void {
  const call = async (
    method: DescMethod,
    { requestHeader, signal }: HandlerContext,
    answerHeaders: AnswerHeaders,
  ) => ({
    principal: await core.authenticate(
      requestHeader.get('authorization'),
      method !== getAccount || !requestHeader.has(admissionMetadata),
    ),
    // gRPC metadata spells it with an underscore (decisions, "idempotency").
    idempotencyKey: requestHeader.get('idempotency_key') ?? requestHeader.get('idempotency-key') ?? undefined,
    signal,
    waitMs: requireWait(requestHeader.get(waitMetadata), ['header', waitMetadata]),
    ifNoneMatch: requestHeader.get('if-none-match') ?? undefined,
    answerHeaders,
  });
  const answerWith = (headers: AnswerHeaders, { responseHeader }: HandlerContext) => {
    for (const name in headers) responseHeader.set(name, headers[name]!);
  };
  const failed = (method: DescMethod, thrown: unknown) => {
    if (Fault.from(thrown).code === 'internal')
      log.error({ method: method.name, err: thrown }, 'call failed');
    return toConnectError(thrown);
  };
  return (router) => {
    for (const method of core.services.flatMap((service) => service.methods)) {
      if (method.methodKind === 'server_streaming') {
        router.rpc(method, async function* (request: Message, context: HandlerContext) {
          const headers: AnswerHeaders = {};
          try {
            for await (const message of core.stream(method, request, await call(method, context, headers))) {
              answerWith(headers, context);
              yield message;
            }
          } catch (error) {
            answerWith(headers, context);
            throw failed(method, error);
          }
        } as never);
      } else {
        router.rpc(method, (async (request: Message, context: HandlerContext) => {
          const headers: AnswerHeaders = {};
          try {
            return await core.unary(method, request, await call(method, context, headers));
          } catch (error) {
            throw failed(method, error);
          } finally {
            answerWith(headers, context);
          }
        }) as never);
      }
    }
  };
}
