import type { DescMethod, DescMethodServerStreaming, DescMethodUnary, Message } from '@bufbuild/protobuf';
import { createClient, type Transport } from '@connectrpc/connect';
import { createGrpcTransport } from '@connectrpc/connect-node';
import { SessionService } from '../../../gen/gleaner/session/v1/session_pb.ts';
import { Health, HealthCheckResponse_ServingStatus as Status } from '../../../gen/health/v1/health_pb.ts';
import { forwardedForHeader } from '../../base/client-address.ts';
import { Fault } from '../../contract/fault.ts';
import { copyResponseHeaders, creditsHeader, type ResponseHeaders } from '../../contract/response-headers.ts';
import { writeSubmitOptions } from '../../contract/submit-options.ts';
import { waitMetadata } from '../../contract/wait.ts';
import type { AdmissionTokens } from './admission-token.ts';
import { traceOutgoing } from './call-spans.ts';
import { anyUserMethod, type CoreCallContext, type CoreClient, type CoreSession } from './core-client.ts';
import { fromConnectError } from './fault-detail.ts';
import { createKeyCheck } from './key-check.ts';
import { faultOfCall } from './unknown-outcome.ts';

/** Timeout of a call to a remote core in milliseconds, in addition to the wait that the call requests. */
export const remoteTimeoutMs = 60_000;

/** Connection to a core in another process. */
export interface RemoteCore {
  /** Address, for messages. */
  url: string;
  transport: Transport;
  /** Signs the check of callers before their calls. */
  admissions: AdmissionTokens;
  /** Aborts when this process stops; calls that wait then return immediately. */
  stopping: AbortSignal;
}

/** Prepares the gRPC connection to a core. Connects on the first call. */
export function openRemoteCore(url: string, stopping: AbortSignal, admissions: AdmissionTokens): RemoteCore {
  const grpc = createGrpcTransport({ baseUrl: url, interceptors: [traceOutgoing] });
  return { url, transport: endingTransport(grpc, stopping), admissions, stopping };
}

/**
 * Wraps a transport so that no call outlives its reader or this process: a call that waits is repeated
 * without its wait when `stopping` aborts, and a reader that leaves a stream ends the call, which would keep
 * its connection and the core busy.
 */
function endingTransport(transport: Transport, stopping: AbortSignal): Transport {
  return {
    async unary(method, signal, timeoutMs, header, input, values) {
      const headers = new Headers(header);
      const send = (until: AbortSignal | undefined) =>
        transport.unary(method, until, timeoutMs, headers, input, values);
      const sendAtOnce = () => {
        headers.delete(waitMetadata);
        return send(signal);
      };
      if (!headers.has(waitMetadata) || stopping.aborted) return sendAtOnce();
      return send(AbortSignal.any(signal ? [signal, stopping] : [stopping])).catch((error) => {
        if (!stopping.aborted || signal?.aborted) throw error;
        return sendAtOnce();
      });
    },
    async stream(method, signal, timeoutMs, header, input, values) {
      const left = new AbortController();
      const until = AbortSignal.any(signal ? [signal, left.signal] : [left.signal]);
      const response = await transport.stream(method, until, timeoutMs, header, input, values);
      const read = async function* () {
        try {
          yield* response.message;
        } finally {
          left.abort();
        }
      };
      return { ...response, message: read() };
    },
  };
}

/** Creates the client of a core in another process. Throws the core's faults. */
export function createRemoteCaller(remote: RemoteCore): CoreClient {
  const { url, transport } = remote;
  const checkKey = createKeyCheck(remote);
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
      const { userId, role, balance } = await toFault(checkKey(options, method ?? anyUserMethod));
      return {
        userId,
        headers: { ...known, ...(role === 'user' ? { [creditsHeader]: String(balance) } : {}) },
        ...countedCalls(remote, credentials),
        allows: async (target) => {
          try {
            await checkKey({ headers: credentials, timeoutMs: remoteTimeoutMs }, target);
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
  const sessions = createClient(SessionService, remote.transport);
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
      await toFault(sessions.getSession({}, { headers: credentials, timeoutMs: remoteTimeoutMs, onHeader }));
      return known;
    },
  };
}

/** Creates the calls of one caller. */
function callsOf(
  { transport }: RemoteCore,
  credentials: Record<string, string>,
): Pick<CoreSession, 'call' | 'stream'> {
  return {
    async call(method: DescMethod, message: Message, context: CoreCallContext) {
      try {
        const response = await transport.unary(
          method as DescMethodUnary,
          context.signal,
          remoteTimeoutMs + context.waitMs,
          headersOf(credentials, context),
          message as never,
        );
        copyResponseHeaders(response.header, context.responseHeaders);
        return response.message as never;
      } catch (error) {
        throw faultOfCall(method, error);
      }
    },
    async *stream(method: DescMethod, message: Message, context: CoreCallContext) {
      const input = (async function* () {
        yield message as never;
      })();
      try {
        const response = await transport.stream(
          method as DescMethodServerStreaming,
          context.signal,
          undefined,
          headersOf(credentials, context),
          input,
        );
        copyResponseHeaders(response.header, context.responseHeaders);
        yield* response.message as AsyncIterable<never>;
      } catch (error) {
        throw error instanceof Fault ? error : fromConnectError(error);
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
  { requestId, idempotencyKey, submitOptions, waitMs, ifNoneMatch }: CoreCallContext,
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
