import {
  create,
  type DescMethod,
  getOption,
  hasOption,
  type Message,
  type MessageInitShape,
  type MessageShape,
} from '@bufbuild/protobuf';
import { http } from '../../../gen/google/api/annotations_pb.ts';
import type { Principal } from '../../access/principal.ts';
import type { CallContext } from '../../contract/caller.ts';
import { Fault, type Problem } from '../../contract/fault.ts';

/** Context of a call. `C` is the core's type of a caller. */
export interface Call<C = Principal> extends CallContext {
  principal: C;
  /** Problems of the call's metadata, reported together with the request's. */
  problems?: readonly Problem[];
  /** Addresses that the call came from, the client's first. */
  source: string;
}

/** Handler of a unary method. Rejects with a Fault. */
export type Handler = (request: Message, call: Call) => Promise<Message>;

/** Handler of a server-streaming method. */
export type StreamHandler = (request: Message, call: Call) => AsyncIterable<Message>;

/** Handlers by method. */
export interface Handlers {
  unary: ReadonlyMap<DescMethod, Handler>;
  stream: ReadonlyMap<DescMethod, StreamHandler>;
}

/** A handler that returns the response as a plain object. */
export type ShapeHandler<M extends DescMethod> = (
  request: MessageShape<M['input']>,
  call: Call,
) => Promise<MessageInitShape<M['output']>>;

/** Returns the entry of a unary method in Handlers. */
export function handle<M extends DescMethod>(
  method: M,
  handler: ShapeHandler<M>,
): [DescMethod, Handler] {
  const bound = async (request: Message, call: Call) =>
    create(method.output, (await handler(request as MessageShape<M['input']>, call)) as never);
  return [method, bound];
}

/** Entries of a page if the request has no page size. */
export const defaultPageSize = 100;

/** Returns the page options of a list request. */
export const pageOf = ({ pageSize, pageToken }: { pageSize: number; pageToken: string }) => ({
  limit: pageSize || defaultPageSize,
  after: pageToken || null,
});

/**
 * Returns the condition of ids with a first part, which the console and the command line show. Null
 * for any other text.
 */
export const shortIdCondition = (text: string) =>
  // "." is the character after "-".
  /^[0-9a-f]{8}$/.test(text) ? { atLeast: `${text}-`, below: `${text}.` } : null;

/**
 * Returns whether a request leaves its resource in use, by the field of requests or by the field of
 * responses. Throws `invalid` if one contradicts the other.
 */
export function isEnabled(request: { disabled: boolean; enabled?: boolean | undefined }): boolean {
  const { disabled, enabled = !disabled } = request;
  if (enabled && disabled)
    throw Fault.invalid(['body', 'enabled'], 'true contradicts disabled: true', 'value_error');
  return enabled;
}

/** Returns true if a call may change its caller's credits: its REST method is not GET. */
export function changesBalance(method: DescMethod): boolean {
  return hasOption(method, http) && getOption(method, http).pattern.case !== 'get';
}
