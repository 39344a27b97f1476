import type { DescMessage, DescMethod, MessageShape } from '@bufbuild/protobuf';
import type { ResponseHeaders } from '../contract/response-headers.ts';
import type { Call } from './handlers.ts';

/**
 * The core as the gateway sees it, in this process (createDirectCaller) or in another one (createRemoteCaller). Every
 * error is a Fault.
 */
export interface CoreClient {
  /** True once the core admits callers; always true for a remote core, whose process reports it. */
  started(): boolean;
  /** Resolves when the core can work; rejects with `unavailable` and the missing component. */
  ready(): Promise<void>;
  /** Calls a unary method of any role with the credentials of a request's headers. */
  call<M extends DescMethod>(
    method: M,
    message: MessageShape<M['input']>,
    headers: Readonly<Record<string, string | undefined>>,
  ): Promise<MessageShape<M['output']>>;
  /**
   * Authenticates a user by the Authorization header, for calls of `method` or, without one, of any method that every key
   * allows. Faults `unauthenticated`, `forbidden`, `rate_limited`.
   */
  authenticate(
    headers: Readonly<Record<string, string | undefined>>,
    method?: DescMethod,
  ): Promise<CoreSession>;
}

/** Calls of one authenticated user. */
export interface CoreSession {
  readonly userId: string;
  /** Headers of every response to the request. */
  readonly headers: ResponseHeaders;
  /**
   * Counts a request without a call against the key's rate limit, and returns the headers of its response. Absent if
   * authenticate() counts requests. Fault `rate_limited`.
   */
  count?(): Promise<ResponseHeaders>;
  /** Returns whether the caller's key allows a method. */
  allows(method: DescMethod): Promise<boolean>;
  call<I extends DescMessage, O extends DescMessage>(
    method: DescMethod & { input: I; output: O },
    message: MessageShape<I>,
    context: CallContext,
  ): Promise<MessageShape<O>>;
  stream<I extends DescMessage, O extends DescMessage>(
    method: DescMethod & { input: I; output: O },
    message: MessageShape<I>,
    context: CallContext,
  ): AsyncIterable<MessageShape<O>>;
}

/** Context of a call, beside its request and its caller. */
export interface CallContext extends Omit<Call, 'principal' | 'problems' | 'source'> {
  requestId: string;
}
