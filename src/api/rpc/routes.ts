import type { DescMethod, Message } from '@bufbuild/protobuf';
import { type ConnectRouter, createContextKey, type HandlerContext } from '@connectrpc/connect';
import { SessionService } from '../../../gen/gleaner/session/v1/session_pb.ts';
import { clientAddress, forwardedForHeader } from '../../base/client-address.ts';
import type { Log } from '../../base/log.ts';
import { maxBodyBytes } from '../../contract/body-limit.ts';
import { Fault } from '../../contract/fault.ts';
import { problemText } from '../../contract/problem-texts.ts';
import { readSubmitOptions } from '../../contract/read-submit-options.ts';
import { requestIdHeader } from '../../contract/request-id.ts';
import type { ResponseHeaders } from '../../contract/response-headers.ts';
import {
  decodeMetadata,
  submitOptionFields,
  submitOptionMetadata,
  takesSubmitOptions,
} from '../../contract/submit-options.ts';
import { requireWait, waitMetadata } from '../../contract/wait.ts';
import { fullName } from '../../jobs/job-types.ts';
import { createRequestGate, dropResponse, earlyOf } from './adapter.ts';
import { type AdmissionTokens, admissionMetadata } from './admission-token.ts';
import type { AdmittedCaller, Core } from './core.ts';
import { failCall, placeInMetadata } from './fault-detail.ts';
import type { Call } from './handlers.ts';

/** Method with which gateways check keys. */
const admissionMethod: DescMethod = SessionService.method.getSession;

/** Caller of a call, set by the request gate. */
const principalKey = createContextKey<AdmittedCaller | null>(null, {
  description: 'the authenticated caller',
});

/**
 * Serves the core's services on a Connect router. Callers are authenticated before a body is read. Errors
 * have a gleaner.fault.v1.Fault as detail; internal ones and outages are logged. Without `admissions`, which
 * verifies the tokens of gateways, every call counts.
 */
export function routeCore<C extends AdmittedCaller>(
  core: Core<C>,
  log: Log,
  admissions?: AdmissionTokens,
): (router: ConnectRouter) => void {
  const methods = core.services.flatMap((service) => service.methods);
  const methodsByName = new Map(methods.map((method) => [fullName(method), method]));
  const call = (method: DescMethod, context: HandlerContext, responseHeaders: ResponseHeaders) => {
    const { requestHeader, signal, values } = context;
    return {
      principal: values.get(principalKey) as C,
      requestId: requestHeader.get(requestIdHeader) ?? '',
      // The documented name in gRPC metadata has an underscore.
      idempotencyKey:
        requestHeader.get('idempotency_key') ?? requestHeader.get('idempotency-key') ?? undefined,
      signal,
      early: earlyOf(context),
      source: clientAddress(requestHeader.get(forwardedForHeader)),
      waitMs: requireWait(requestHeader.get(waitMetadata), ['header', waitMetadata]),
      ifNoneMatch: requestHeader.get('if-none-match') ?? undefined,
      responseHeaders,
      ...(takesSubmitOptions(method) ? optionsOfCall(requestHeader) : {}),
    };
  };
  const setHeaders = (headers: ResponseHeaders, { responseHeader }: HandlerContext) => {
    for (const name in headers) responseHeader.set(name, headers[name]!);
  };
  const failed = (method: DescMethod, context: HandlerContext, thrown: unknown) => {
    if (thrown instanceof Fault && thrown.unknownOutcome) dropResponse(context);
    return failCall(log, method, context, placeInMetadata(method, thrown));
  };
  const optionsOf = (method: DescMethod) => ({
    readMaxBytes: maxBodyBytes(method),
    requestGate: createRequestGate(
      async ({ requestHeader, values }) => {
        const token = requestHeader.get(admissionMetadata);
        const admission = token && admissions?.verify(token, requestHeader.get('authorization'));
        const isCheck = method === admissionMethod;
        // A read that is part of a submit, which was counted.
        const isPart = !isCheck && admission === fullName(method);
        const target = (isCheck && admission ? methodsByName.get(admission) : undefined) ?? method;
        const principal = await core.admit(target, requestHeader.get('authorization'), {
          rate: isCheck ? (typeof admission === 'string' ? 'check' : 'count') : isPart ? 'ignore' : 'count',
          source: clientAddress(requestHeader.get(forwardedForHeader)),
        });
        values.set(principalKey, principal);
        return principal.userId;
      },
      (context, error) => failed(method, context, error),
    ),
  });
  return (router) => {
    for (const method of methods) {
      if (method.methodKind === 'server_streaming') {
        router.rpc(
          method,
          async function* (request: Message, context: HandlerContext) {
            const headers: ResponseHeaders = {};
            try {
              for await (const message of core.stream(method, request, call(method, context, headers))) {
                setHeaders(headers, context);
                yield message;
              }
            } catch (error) {
              setHeaders(headers, context);
              throw failed(method, context, error);
            }
          } as never,
          optionsOf(method),
        );
      } else {
        router.rpc(
          method,
          (async (request: Message, context: HandlerContext) => {
            const headers: ResponseHeaders = {};
            try {
              return await core.unary(method, request, call(method, context, headers));
            } catch (error) {
              throw failed(method, context, error);
            } finally {
              setHeaders(headers, context);
            }
          }) as never,
          optionsOf(method),
        );
      }
    }
  };
}

/** Metadata of a submission with the prefix of its options. */
const optionMetadata: readonly string[] = [
  ...submitOptionFields.map(submitOptionMetadata),
  waitMetadata,
  admissionMetadata,
];

/**
 * Returns the options of a submission in its metadata, and their problems. A name with their prefix that is
 * unknown is one: a misspelled ceiling must not charge.
 */
function optionsOfCall(header: Headers): Pick<Call, 'submitOptions' | 'problems'> {
  const { options, problems } = readSubmitOptions(
    (field) => {
      const value = header.get(submitOptionMetadata(field));
      return value && decodeMetadata(value);
    },
    (field) => ['header', submitOptionMetadata(field)],
  );
  for (const name of header.keys())
    if (name.startsWith('gleaner-') && !optionMetadata.includes(name))
      problems.push({ loc: ['header', name], ...problemText.unknown('The metadata', name, optionMetadata) });
  return { submitOptions: options, problems };
}
