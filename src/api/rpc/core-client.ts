import type { DescMessage, DescMethod, MessageShape } from '@bufbuild/protobuf';
import { AccountService } from '../../../gen/gleaner/account/v1/account_pb.ts';
import type { ResponseHeaders } from '../../contract/response-headers.ts';
import type { Call } from './handlers.ts';

/** A method that every user's key allows. */
export const anyUserMethod = AccountService.method.getAccount;

/**
 * The core as the gateway sees it, in this process (createInProcessCaller) or in another one
 * (createRemoteCaller). Every error is a Fault.
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
   * Authenticates a user by the Authorization header, for calls of `method` or, without one, of any method
   * that every key allows. Throws `unauthenticated`, `forbidden`, `rate_limited`.
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
   * Counts a request without a call against the key's rate limit, and returns the headers of its response.
   * Absent if authenticate() counts requests. Throws `rate_limited`.
   */
  count?(): Promise<ResponseHeaders>;
  /** Returns true if the caller's key allows a method. */
  allows(method: DescMethod): Promise<boolean>;
  call<I extends DescMessage, O extends DescMessage>(
    method: DescMethod & { input: I; output: O },
    message: MessageShape<I>,
    context: CoreCallContext,
  ): Promise<MessageShape<O>>;
  stream<I extends DescMessage, O extends DescMessage>(
    method: DescMethod & { input: I; output: O },
    message: MessageShape<I>,
    context: CoreCallContext,
  ): AsyncIterable<MessageShape<O>>;
}

/** Context of a call, beside its request and its caller. */
export interface CoreCallContext extends Omit<Call, 'principal' | 'problems' | 'source'> {
  requestId: string;
}
