import type { DescMessage, DescMethod, MessageShape } from '@bufbuild/protobuf';
import type { BodyBudget } from './body-budget.ts';
import type { ResponseHeaders } from './response-headers.ts';
import type { SubmitOptions } from './submit-options.ts';

/** Headers of a REST request, lower-case names. */
export type Headers = Record<string, string | undefined>;

/** Source of time for the gateway. */
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
export type GatewayBudget = Pick<BodyBudget, 'reserve'>;

/**
 * Access to the services, in the same process or by RPC. Every error is a `Fault` of the contract.
 */
export interface Caller {
  /**
   * Checks the credentials of a request before its body is read; a fault `unauthenticated` or
   * `forbidden` without valid ones. `method` is the method that the request calls, if it calls one.
   */
  authenticate(headers: Headers, method?: DescMethod): Promise<Session>;
}

/** Calls on behalf of one caller. */
export interface Session {
  readonly userId: string;
  /** Headers of every response to the request. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** True if the service must see every call of this caller: no response comes from the cache. */
  readonly isUncached?: boolean;
  /**
   * Counts the request against the caller's limits if no call did, and returns headers of the
   * response. Absent if authenticate() counts requests. A fault if a limit is exceeded.
   */
  count?(): Promise<Readonly<Record<string, string>>>;
  /** Returns true if the caller may call a method. Absent if every caller may call every method. */
  allows?(method: DescMethod): Promise<boolean>;
  /**
   * Calls a unary method with a message of its input type, which the service validates. A response
   * that the service returns again may be frozen: it is then written as JSON only once.
   */
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

/**
 * Kind of a request that may last long: one that waits for a change, a stream of changes, another
 * stream, the download of a file, or a message of an agent. Those of an account have a limit of
 * their own.
 */
export type LongRequestKind = 'wait' | 'watch' | 'stream' | 'download' | 'agent';

/** Options of a call in addition to its message. */
export interface CallContext {
  requestId: string;
  idempotencyKey: string | undefined;
  /** Options of a submission. Undefined if it has none. */
  submitOptions?: SubmitOptions | undefined;
  signal: AbortSignal;
  /** Maximum wait for the final state of the resource, in milliseconds; 0: no wait. */
  waitMs: number;
  /** Ends the wait early when it aborts: the response is the present state. */
  early?: AbortSignal | undefined;
  /** `If-None-Match`: with `waitMs`, another tag than these ends the wait. */
  ifNoneMatch: string | undefined;
  /** Headers of the response, which the call sets, even if it fails. */
  responseHeaders: ResponseHeaders;
}
