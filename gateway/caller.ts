import type { DescMessage, DescMethod, MessageShape } from '@bufbuild/protobuf';
import type { ResponseHeaders } from '../src/contract/response-headers.ts';

/** Headers of a REST request, lower-case names. */
export type Headers = Record<string, string | undefined>;

/** Time as the gateway sees it. */
export interface GatewayClock {
  /** Returns the time in milliseconds since the epoch, UTC. */
  now(): number;
}

/** Log of the gateway; pino's loggers are such logs. */
export interface GatewayLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** Memory for request bodies, shared by everything that reads bodies in the process. */
export interface GatewayBudget {
  /**
   * Waits until `bytes` are free and reserves them; the result frees them and may be called again.
   * Rejects with the signal's reason when it is aborted first.
   */
  reserve(userId: string, bytes: number, signal: AbortSignal): Promise<() => void>;
}

/** Calls the services: in the same process, or elsewhere by RPC. Every error is a `Fault` of the contract. */
export interface Caller {
  /** Checks the credentials of a request; a fault `unauthenticated` or `forbidden` without valid ones. */
  authenticate(headers: Headers): Promise<Session>;
}

/** Calls in the name of one caller. */
export interface Session {
  readonly userId: string;
  /** Headers of every response to the request. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Calls a unary method with a message of its input type, which the service validates. */
  call<I extends DescMessage, O extends DescMessage>(
    method: DescMethod & { input: I; output: O },
    message: MessageShape<I>,
    context: CallContext,
  ): Promise<MessageShape<O>>;
  /** Calls a method that streams its response. */
  stream<I extends DescMessage, O extends DescMessage>(
    method: DescMethod & { input: I; output: O },
    message: MessageShape<I>,
    context: CallContext,
  ): AsyncIterable<MessageShape<O>>;
}

/** What a request carries beside its message. */
export interface CallContext {
  requestId: string;
  idempotencyKey: string | undefined;
  signal: AbortSignal;
  /** How long to wait for the final state of what a method shows, in milliseconds; 0: not at all. */
  waitMs: number;
  /** `If-None-Match`: with `waitMs`, another tag than these ends the wait. */
  ifNoneMatch: string | undefined;
  /** Headers of the response, which the call sets, also where it fails. */
  responseHeaders: ResponseHeaders;
}
