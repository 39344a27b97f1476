import type { DescMessage, DescMethod, MessageShape } from '@bufbuild/protobuf';
import type { AnswerHeaders } from '../src/contract/answer-headers.ts';

/** Headers of a REST request, lower-case names. */
export type Headers = Record<string, string | undefined>;

/**
 * How the gateway reaches the core: handed in by whoever starts it, either the core's handlers in
 * the same process or a remote core by RPC. Every fault comes as a `Fault` of src/base.
 */
export interface Caller {
  /** Checks the Bearer key; a fault `unauthenticated` or `forbidden` unless it is a user's. */
  authenticate(headers: Headers): Promise<Session>;
  /** True once the core admits callers; always true for a core elsewhere, whose process says so itself. */
  started(): boolean;
  /** Resolves when the core can work; rejects with `unavailable` and what is missing. */
  ready(): Promise<void>;
}

/** Calls in the name of one caller. */
export interface Session {
  readonly userId: string;
  /** Credits of the caller when the key was looked up; undefined where that is not known. */
  readonly credits?: number | undefined;
  /** Headers of every response to the request. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Calls a unary method with a message of its input type, validated by the core. */
  call<I extends DescMessage, O extends DescMessage>(
    method: DescMethod & { input: I; output: O },
    message: MessageShape<I>,
    context: CallContext,
  ): Promise<MessageShape<O>>;
  /** Calls a method that streams its answer. */
  stream<I extends DescMessage, O extends DescMessage>(
    method: DescMethod & { input: I; output: O },
    message: MessageShape<I>,
    context: CallContext,
  ): AsyncIterable<MessageShape<O>>;
}

/** What goes along with a call. */
export interface CallContext {
  requestId: string;
  idempotencyKey: string | undefined;
  signal: AbortSignal;
  /** How long to wait for the job that a read method shows, in milliseconds; 0: not at all. */
  waitMs: number;
  /** `If-None-Match`: with `waitMs`, another tag than these ends the wait. */
  ifNoneMatch: string | undefined;
  /** Filled by the call with headers of its answer, also where it fails: see src/base/answer-headers.ts. */
  answerHeaders: AnswerHeaders;
}
