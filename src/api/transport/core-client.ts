import type { DescMethod, MessageShape } from '@bufbuild/protobuf';
import { AccountService } from '../../../gen/gleaner/account/v1/account_pb.ts';
import { clientAddress, forwardedForHeader } from '../../base/incoming-requests.ts';
import type { CallContext, Headers, Session } from '../../contract/caller.ts';
import { refusalOf } from '../../contract/permission.ts';
import {
  creditsHeader,
  type ResponseHeaders,
  requestIdHeader,
} from '../../contract/response-headers.ts';
import { methodPath } from '../../telemetry/metrics.ts';
import { inSpan } from '../../telemetry/trace.ts';
import type { AdmittedCaller, Core } from '../services/core.ts';

/** The core as the gateway sees it. Every error is a Fault. */
export interface CoreClient extends Pick<Core, 'started' | 'ready'> {
  /** Calls a unary method of any role with the credentials of a request's headers. */
  call<M extends DescMethod>(
    method: M,
    message: MessageShape<M['input']>,
    headers: Headers,
  ): Promise<MessageShape<M['output']>>;
  /**
   * Authenticates a user by the Authorization header, for calls of `method` or, without one, of any
   * method that every key allows. Throws `unauthenticated`, `forbidden`, `rate_limited`.
   */
  authenticate(
    headers: Headers,
    method?: DescMethod,
  ): Promise<Required<Session> & { headers: ResponseHeaders }>;
}

export function createCoreClient<C extends AdmittedCaller>(core: Core<C>): CoreClient {
  const admit = async (method: DescMethod, headers: Headers) => {
    const source = clientAddress(headers[forwardedForHeader]);
    return { principal: await core.admit(method, headers.authorization, { source }), source };
  };
  return {
    started: () => core.started(),
    ready: () => core.ready(),
    async call(method, message, headers) {
      const admitted = await admit(method, headers);
      return (await core.unary(method, message, {
        ...admitted,
        requestId: headers[requestIdHeader] ?? '',
        idempotencyKey: undefined,
        signal: new AbortController().signal,
        waitMs: 0,
        ifNoneMatch: undefined,
        responseHeaders: {},
      })) as never;
    },
    async authenticate(headers, method = AccountService.method.getAccount) {
      const admitted = await admit(method, headers);
      const { userId, role, balance, headers: sessionHeaders } = admitted.principal;
      let isCounted = core.count === undefined;
      const contextOf = (context: CallContext) => {
        isCounted = true;
        return { ...context, ...admitted };
      };
      return {
        userId,
        isUncached: role === 'operator',
        headers: {
          ...(role === 'user' ? { [creditsHeader]: String(balance) } : {}),
          ...sessionHeaders,
        },
        async count() {
          if (isCounted) return {};
          isCounted = true;
          return core.count!(admitted.principal);
        },
        allows: async (target) => refusalOf(target, admitted.principal) === null,
        call: (method, message, context) => {
          const run = () => core.unary(method, message, contextOf(context)) as Promise<never>;
          return core.isRemote ? run() : inSpan(methodPath(method), {}, run);
        },
        stream: (method, message, context) =>
          core.stream(method, message, contextOf(context)) as AsyncIterable<never>,
      };
    },
  };
}
