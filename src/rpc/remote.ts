import type { DescMethod, DescMethodServerStreaming, DescMethodUnary, Message } from '@bufbuild/protobuf';
import { createClient, type Transport } from '@connectrpc/connect';
import { createGrpcTransport } from '@connectrpc/connect-node';
import { AccountService } from '../../gen/gleaner/account/v1/account_pb.ts';
import { Health, HealthCheckResponse_ServingStatus as Status } from '../../gen/health/v1/health_pb.ts';
import { forwardedForHeader } from '../base/client-address.ts';
import { Fault } from '../contract/fault.ts';
import { copyResponseHeaders, creditsHeader, type ResponseHeaders } from '../contract/response-headers.ts';
import { writeSubmitOptions } from '../contract/submit-options.ts';
import { waitMetadata } from '../contract/wait.ts';
import { createAccountCheck } from './account-check.ts';
import type { AdmissionTokens } from './admission-token.ts';
import { traceOutgoing } from './call-spans.ts';
import type { CallContext, CoreClient, CoreSession } from './core-client.ts';
import { fromConnectError } from './fault-detail.ts';
import { faultOfCall } from './lost-call.ts';

/** Timeout of a call to a remote core in milliseconds, in addition to the wait that the call requests. */
export const remoteTimeoutMs = 60_000;

/** Connection to a core in another process. */
export interface RemoteCore {
  /** Address, for messages. */
  url: string;
  transport: Transport;
  /** Signs the check of callers before their calls. */
  admissions: AdmissionTokens;
  /** Aborts when this process stops; calls that wait then return at once. */
  stopping: AbortSignal;
}

/** Prepares the gRPC connection to a core. Connects on the first call. */
export function openRemoteCore(url: string, stopping: AbortSignal, admissions: AdmissionTokens): RemoteCore {
  const transport = createGrpcTransport({ baseUrl: url, interceptors: [traceOutgoing] });
  return { url, transport, admissions, stopping };
}

/** Creates the client of a core in another process. Faults are those of the core. */
export function createRemoteCaller(remote: RemoteCore): CoreClient {
  const { url, transport } = remote;
  const getAccount = createAccountCheck(remote);
  const health = createClient(Health, transport);
  return {
    started: () => true,
    async ready() {
      const { status } = await toFault(health.check({}, { timeoutMs: remoteTimeoutMs }));
      if (status !== Status.SERVING)
        throw new Fault('unavailable', `The core at ${url} is not ready.`, { component: 'core' });
    },
    async call(method, message, headers) {
      const response = transport.unary(
        method as DescMethod as DescMethodUnary,
        undefined,
        remoteTimeoutMs,
        credentialsOf(headers),
        message as never,
      );
      return (await toFault(response)).message as never;
    },
    async authenticate(headers, method) {
      const credentials = credentialsOf(headers);
      const known: ResponseHeaders = {};
      const options = {
        headers: credentials,
        timeoutMs: remoteTimeoutMs,
        onHeader: (header: Headers) => void copyResponseHeaders(header, known),
      };
      const { id, balance } = await toFault(getAccount(options, method));
      return {
        userId: id,
        headers: { ...known, [creditsHeader]: String(balance) },
        ...countedCalls(remote, credentials),
        allows: async (target) => {
          try {
            await getAccount({ headers: credentials, timeoutMs: remoteTimeoutMs }, target);
            return true;
          } catch (error) {
            const fault = fromConnectError(error);
            if (fault.code === 'forbidden') return false;
            throw fault;
          }
        },
      };
    },
  };
}

/** Returns the headers of a request that tell the core who calls, and from where. */
function credentialsOf({
  authorization,
  [forwardedForHeader]: source,
}: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return {
    ...(authorization === undefined ? {} : { authorization }),
    ...(source === undefined ? {} : { [forwardedForHeader]: source }),
  };
}

/** Creates the calls of one request, which the core counts, and the count of a request without a call. */
function countedCalls(
  remote: RemoteCore,
  credentials: Record<string, string>,
): Required<Pick<CoreSession, 'call' | 'stream' | 'count'>> {
  const { call, stream } = callsOf(remote, credentials);
  const accounts = createClient(AccountService, remote.transport);
  let isCounted = false;
  return {
    call: (method, message, context) => {
      isCounted = true;
      return call(method, message, context);
    },
    stream: (method, message, context) => {
      isCounted = true;
      return stream(method, message, context);
    },
    async count() {
      const known: ResponseHeaders = {};
      if (isCounted) return known;
      isCounted = true;
      const onHeader = (header: Headers) => void copyResponseHeaders(header, known);
      await toFault(accounts.getAccount({}, { headers: credentials, timeoutMs: remoteTimeoutMs, onHeader }));
      return known;
    },
  };
}

/** Creates the calls of one caller. */
function callsOf(
  { transport, stopping }: RemoteCore,
  credentials: Record<string, string>,
): Pick<CoreSession, 'call' | 'stream'> {
  return {
    async call(method: DescMethod, message: Message, context: CallContext) {
      const request = async (waitMs: number, signal: AbortSignal) => {
        const response = await transport.unary(
          method as DescMethodUnary,
          signal,
          remoteTimeoutMs + waitMs,
          headersOf(credentials, { ...context, waitMs }),
          message as never,
        );
        copyResponseHeaders(response.header, context.responseHeaders);
        return response.message as never;
      };
      const { waitMs, signal } = context;
      try {
        if (waitMs === 0 || stopping.aborted) return await request(0, signal);
        return await request(waitMs, AbortSignal.any([signal, stopping])).catch((error) => {
          if (!stopping.aborted || signal.aborted) throw error;
          return request(0, signal);
        });
      } catch (error) {
        throw faultOfCall(method, error);
      }
    },
    async *stream(method: DescMethod, message: Message, context: CallContext) {
      const input = (async function* () {
        yield message as never;
      })();
      // A reader that stops early ends the call, which would keep its connection and the core busy.
      const left = new AbortController();
      const signal = AbortSignal.any([context.signal, left.signal]);
      try {
        const response = await transport.stream(
          method as DescMethodServerStreaming,
          signal,
          undefined,
          headersOf(credentials, context),
          input,
        );
        copyResponseHeaders(response.header, context.responseHeaders);
        yield* response.message as AsyncIterable<never>;
      } catch (error) {
        throw error instanceof Fault ? error : fromConnectError(error);
      } finally {
        left.abort();
      }
    },
  };
}

/** Converts the error of a call to the core's fault. */
async function toFault<T>(call: Promise<T>): Promise<T> {
  try {
    return await call;
  } catch (error) {
    throw fromConnectError(error);
  }
}

function headersOf(
  credentials: Record<string, string>,
  { requestId, idempotencyKey, submitOptions, waitMs, ifNoneMatch }: CallContext,
): Headers {
  return new Headers({
    ...credentials,
    'x-request-id': requestId,
    ...(idempotencyKey === undefined ? {} : { idempotency_key: idempotencyKey }),
    ...writeSubmitOptions(submitOptions),
    ...(waitMs === 0 ? {} : { [waitMetadata]: String(waitMs / 1000) }),
    ...(ifNoneMatch === undefined ? {} : { 'if-none-match': ifNoneMatch }),
  });
}
