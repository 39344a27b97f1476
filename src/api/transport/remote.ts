import type {
  DescMethod,
  DescMethodServerStreaming,
  DescMethodUnary,
  DescService,
  Message,
} from '@bufbuild/protobuf';
import { ConnectError, createClient, type Transport } from '@connectrpc/connect';
import { createAsyncIterable } from '@connectrpc/connect/protocol';
import { createGrpcTransport } from '@connectrpc/connect-node';
import { FaultSchema } from '../../../gen/gleaner/fault/v1/fault_pb.ts';
import { JobService } from '../../../gen/gleaner/job/v1/job_pb.ts';
import { SessionService } from '../../../gen/gleaner/session/v1/session_pb.ts';
import {
  Health,
  HealthCheckResponse_ServingStatus as Status,
} from '../../../gen/health/v1/health_pb.ts';
import { forwardedForHeader } from '../../base/incoming-requests.ts';
import { Fault } from '../../contract/fault.ts';
import type { Permissions } from '../../contract/permission.ts';
import {
  copyResponseHeaders,
  type ResponseHeaders,
  requestIdHeader,
} from '../../contract/response-headers.ts';
import { writeSubmitOptions } from '../../contract/submit-options.ts';
import { canAwaitOutcome, waitMetadata } from '../../contract/wait.ts';
import { fullName } from '../../jobs/job-types.ts';
import { type AdmittedCaller, type Core, requireValid } from '../services/core.ts';
import { type Call, changesBalance } from '../services/handlers.ts';
import { addOutcome } from '../services/submit-outcome.ts';
import { type AdmissionTokens, admissionMetadata } from './admission-token.ts';
import { traceOutgoing } from './call-spans.ts';
import { fromConnectError, placeInQuery } from './fault-detail.ts';
import { poolTransports } from './pooled-transport.ts';

/**
 * Timeout of a call to a remote core in milliseconds, in addition to the wait that the call
 * requests.
 */
const remoteTimeoutMs = 60_000;

/** A caller that a core in another process admitted, with the credentials of its calls. */
export interface RemoteCaller extends AdmittedCaller {
  credentials: Readonly<Record<string, string>>;
}

export interface RemoteCoreOptions {
  services: readonly DescService[];
  /** Signs the check of callers before their calls. */
  admissions: AdmissionTokens;
  /** Aborts when this process stops; calls that wait then return immediately. */
  stopping: AbortSignal;
}

/** A core in another process. */
export interface RemoteCore extends Core<RemoteCaller> {
  readonly transport: Transport;
}

/**
 * Wraps a transport so that no call outlives its reader or this process. When `stopping` aborts, a
 * call that waits is repeated without its wait. When a reader leaves a stream, the call ends;
 * otherwise it would keep its connection and the core busy.
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

/**
 * Creates a core that calls the core of another process over gRPC, with the credentials of each
 * caller. Connects when calls need it. That core authenticates and validates every call; its errors
 * are thrown with their details, and `unavailable` if it cannot be reached.
 */
export function createRemoteCore(
  url: string,
  { services, admissions, stopping }: RemoteCoreOptions,
): RemoteCore {
  const connectOnce = () => createGrpcTransport({ baseUrl: url, interceptors: [traceOutgoing] });
  const transport = endingTransport(poolTransports(connectOnce), stopping);
  const sessions = createClient(SessionService, transport);
  const health = createClient(Health, transport);
  /** Calls GetSession, which counts as a request unless `token` shows that a call follows. */
  const getSession = async (credentials: Readonly<Record<string, string>>, token?: string) => {
    const responseHeaders: ResponseHeaders = {};
    const headers: Record<string, string> = { ...credentials };
    if (token !== undefined) headers[admissionMetadata] = token;
    const onHeader = (header: Headers) => void copyResponseHeaders(header, responseHeaders);
    const { session } = await toFault(
      sessions.getSession({}, { headers, timeoutMs: remoteTimeoutMs, onHeader }),
    );
    return { session: session!, responseHeaders };
  };
  const requestOf = async (
    method: DescMethod,
    request: Message,
    call: Call<RemoteCaller>,
    token?: string,
  ) => {
    const { signal, early, waitMs } = call;
    const headers = headersOf(call);
    if (token !== undefined) headers.set(admissionMetadata, token);
    const send = (until: AbortSignal, timeoutMs: number) =>
      transport.unary(method as DescMethodUnary, until, timeoutMs, headers, request as never);
    try {
      if (early === undefined || !headers.has(waitMetadata))
        return await send(signal, remoteTimeoutMs + waitMs);
      return await send(AbortSignal.any([signal, early]), remoteTimeoutMs + waitMs).catch(
        (error) => {
          if (!early.aborted || signal.aborted) throw error;
          headers.delete(waitMetadata);
          return send(signal, remoteTimeoutMs);
        },
      );
    } catch (error) {
      throw faultOfCall(method, error);
    }
  };
  /**
   * A submit that waits is sent as a submit and reads that wait: unlike the submit, the reads can
   * be repeated when this process stops. The core counts them as one request.
   */
  const submitAndWait = async (method: DescMethod, request: Message, call: Call<RemoteCaller>) => {
    const { credentials } = call.principal;
    const sign = (target: DescMethod) =>
      admissions.sign(credentials.authorization, fullName(target));
    await getSession(credentials, sign(JobService.method.getJob));
    const response = await requestOf(method, request, { ...call, waitMs: 0 });
    copyResponseHeaders(response.header, call.responseHeaders);
    await addOutcome(method, response.message, call, async (target, read, readContext) => {
      const { header, message } = await requestOf(target, read, readContext, sign(target));
      copyResponseHeaders(header, readContext.responseHeaders);
      return message;
    });
    return response.message;
  };
  return {
    services,
    isRemote: true,
    transport,
    started: () => true,
    async admit(method, authorization, { source = '' } = {}) {
      const credentials: Record<string, string> = {};
      if (authorization) credentials.authorization = authorization;
      if (source !== '') credentials[forwardedForHeader] = source;
      const token = admissions.sign(authorization ?? undefined, fullName(method));
      const { session, responseHeaders } = await getSession(credentials, token);
      const { userId, role, scopes, operatorRole, balance } = session;
      const permissions = { role, scopes, operatorRole: operatorRole || null } as Permissions;
      return {
        ...permissions,
        userId,
        balance: Number(balance),
        headers: responseHeaders,
        credentials,
      };
    },
    count: async ({ credentials }) => (await getSession(credentials)).responseHeaders,
    async unary(method, request, call) {
      if (call.problems?.length) requireValid(method, request, call);
      if (call.waitMs > 0 && canAwaitOutcome(method)) return submitAndWait(method, request, call);
      const response = await requestOf(method, request, call);
      copyResponseHeaders(response.header, call.responseHeaders);
      return response.message;
    },
    async *stream(method, request, call) {
      const until = AbortSignal.any([call.signal, stopping]);
      const streaming = method as DescMethodServerStreaming;
      try {
        const response = await transport.stream(
          streaming,
          until,
          undefined,
          headersOf(call),
          createAsyncIterable([request]) as never,
        );
        copyResponseHeaders(response.header, call.responseHeaders);
        yield* response.message;
      } catch (error) {
        throw fromConnectError(error);
      }
    },
    async ready() {
      const { status } = await toFault(health.check({}, { timeoutMs: remoteTimeoutMs }));
      if (status !== Status.SERVING)
        throw new Fault('unavailable', `The core at ${url} is not ready.`, { component: 'core' });
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

/**
 * Converts the error of a call to a remote core, with problems of submit options located as in
 * REST. If the core did not respond to a call that may change the caller's credits, the outcome is
 * unknown unless the connection could not even be made.
 */
function faultOfCall(method: DescMethod, thrown: unknown): Fault {
  const fault = fromConnectError(thrown, (problems) => placeInQuery(method, problems));
  const error = ConnectError.from(thrown);
  const isAnswered = error.findDetails(FaultSchema).length > 0;
  if (isAnswered || !changesBalance(method) || isUnconnected(error.cause)) return fault;
  return new Fault(fault.code, fault.message, {
    component: 'core',
    cause: thrown,
    unknownOutcome: true,
  });
}

function isUnconnected(cause: unknown): boolean {
  const { syscall } = (cause ?? {}) as NodeJS.ErrnoException;
  return syscall === 'connect' || syscall === 'getaddrinfo';
}

function headersOf({
  principal,
  requestId,
  idempotencyKey,
  submitOptions,
  waitMs,
  ifNoneMatch,
}: Call<RemoteCaller>): Headers {
  const headers = new Headers({ ...principal.credentials, ...writeSubmitOptions(submitOptions) });
  if (requestId !== '') headers.set(requestIdHeader, requestId);
  if (idempotencyKey !== undefined) headers.set('idempotency_key', idempotencyKey);
  if (waitMs > 0) headers.set(waitMetadata, String(waitMs / 1000));
  if (ifNoneMatch !== undefined) headers.set('if-none-match', ifNoneMatch);
  return headers;
}
