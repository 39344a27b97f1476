import type { DescMethod, Message } from '@bufbuild/protobuf';
import { type ConnectRouter, createContextKey, type HandlerContext } from '@connectrpc/connect';
import { SessionService } from '../../../gen/gleaner/session/v1/session_pb.ts';
import { clientAddress, forwardedForHeader } from '../../base/incoming-requests.ts';
import type { Log } from '../../base/log.ts';
import { abortResponse } from '../../contract/abort-response.ts';
import { maxBodyBytes } from '../../contract/body-limit.ts';
import type { CallContext } from '../../contract/caller.ts';
import { Fault } from '../../contract/fault.ts';
import { problemText } from '../../contract/problem-texts.ts';
import { readSubmitOptions } from '../../contract/read-submit-options.ts';
import { requestIdHeader } from '../../contract/response-headers.ts';
import {
  decodeMetadata,
  submitOptionFields,
  submitOptionMetadata,
  takesSubmitOptions,
} from '../../contract/submit-options.ts';
import { requireWait, waitMetadata } from '../../contract/wait.ts';
import { fullName } from '../../jobs/job-types.ts';
import type { AdmittedCaller, Core, RateUse } from '../services/core.ts';
import type { Call } from '../services/handlers.ts';
import { type AdmissionTokens, admissionMetadata } from './admission-token.ts';
import { exchangeOf, headerOf, type RpcExchange, type RpcRequest } from './exchange.ts';
import { failCall, placeInMetadata } from './fault-detail.ts';
import { createRequestGate } from './request-gate.ts';

/** Method with which gateways check keys. */
const admissionMethod: DescMethod = SessionService.method.getSession;

/** Caller of a call, set by the request gate. */
const principalKey = createContextKey<AdmittedCaller | null>(null, {
  description: 'the authenticated caller',
});

/** Returns the use of a key's rate limit by a call. */
function rateUse(isVerifiedCheck: boolean, isPart: boolean): RateUse {
  if (isVerifiedCheck) return 'check';
  return isPart ? 'ignore' : 'count';
}

/**
 * Serves the core's services on a Connect router. Callers are authenticated before a body is read.
 * Errors have a gleaner.fault.v1.Fault as detail; internal ones and outages are logged. Without
 * `admissions`, which verifies the tokens of gateways, every call counts.
 */
export function routeCore<C extends AdmittedCaller>(
  core: Core<C>,
  log: Log,
  admissions?: AdmissionTokens,
): (router: ConnectRouter) => void {
  const methods = core.services.flatMap((service) => service.methods);
  const methodsByName = new Map(methods.map((method) => [fullName(method), method]));
  const failed = (method: DescMethod, context: HandlerContext, thrown: unknown) => {
    // As if this process had ended.
    if (thrown instanceof Fault && thrown.unknownOutcome)
      abortResponse(exchangeOf(context).response);
    return failCall(log, method, context, placeInMetadata(method, thrown));
  };
  const optionsOf = (method: DescMethod) => ({
    readMaxBytes: maxBodyBytes(method),
    requestGate: createRequestGate(
      async (context) => {
        const { request } = exchangeOf(context);
        const { authorization } = request.headers;
        const token = headerOf(request, admissionMetadata);
        const admission = token && admissions?.verify(token, authorization ?? null);
        const isCheck = method === admissionMethod;
        // A read that is part of a submit, which was counted.
        const isPart = !isCheck && admission === fullName(method);
        const target = (isCheck && admission ? methodsByName.get(admission) : undefined) ?? method;
        const principal = await core.admit(target, authorization, {
          rate: rateUse(isCheck && typeof admission === 'string', isPart),
          source: clientAddress(headerOf(request, forwardedForHeader)),
        });
        context.values.set(principalKey, principal);
        return principal.userId;
      },
      (context, error) => failed(method, context, error),
    ),
  });
  return (router) => {
    for (const method of methods) {
      const takesOptions = takesSubmitOptions(method);
      const callOf = (context: HandlerContext): Call<C> => {
        const exchange = exchangeOf(context);
        return {
          ...contextOf(exchange, context.signal),
          principal: context.values.get(principalKey) as C,
          ...(takesOptions ? optionsOfCall(exchange.request) : {}),
        };
      };
      if (method.methodKind === 'server_streaming') {
        router.rpc(
          method,
          async function* (request: Message, context: HandlerContext) {
            try {
              yield* core.stream(method, request, callOf(context));
            } catch (error) {
              throw failed(method, context, error);
            }
          } as never,
          optionsOf(method),
        );
      } else {
        router.rpc(
          method,
          (async (request: Message, context: HandlerContext) => {
            try {
              return await core.unary(method, request, callOf(context));
            } catch (error) {
              throw failed(method, context, error);
            }
          }) as never,
          optionsOf(method),
        );
      }
    }
  };
}

/** Returns the context of a call. It sets the response headers of the exchange. */
function contextOf(
  { request, early, responseHeaders }: RpcExchange,
  signal: AbortSignal,
): CallContext & Pick<Call, 'source'> {
  return {
    requestId: headerOf(request, requestIdHeader) ?? '',
    // The documented name in gRPC metadata has an underscore.
    idempotencyKey: headerOf(request, 'idempotency_key') ?? headerOf(request, 'idempotency-key'),
    signal,
    early,
    source: clientAddress(headerOf(request, forwardedForHeader)),
    waitMs: requireWait(headerOf(request, waitMetadata), ['header', waitMetadata]),
    ifNoneMatch: request.headers['if-none-match'],
    responseHeaders,
  };
}

/** Metadata of a submission with the prefix of its options. */
const optionMetadata: readonly string[] = [
  ...submitOptionFields.map(submitOptionMetadata),
  waitMetadata,
  admissionMetadata,
];

/**
 * Reads the options of a submission from its metadata. An unknown name with the prefix of options
 * is a problem: a misspelled credit limit must not lead to a charge.
 */
function optionsOfCall(request: RpcRequest): Pick<Call, 'submitOptions' | 'problems'> {
  const { options, problems } = readSubmitOptions(
    (field) => {
      const value = headerOf(request, submitOptionMetadata(field));
      return value && decodeMetadata(value);
    },
    (field) => ['header', submitOptionMetadata(field)],
  );
  for (const name of Object.keys(request.headers))
    if (name.startsWith('gleaner-') && !optionMetadata.includes(name))
      problems.push({
        loc: ['header', name],
        ...problemText.unknown('The metadata', name, optionMetadata),
      });
  return { submitOptions: options, problems };
}
