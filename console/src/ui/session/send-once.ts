import { type DescMethod, toJsonString } from '@bufbuild/protobuf';
import type { Interceptor } from '@connectrpc/connect';

/** Creates an idempotency key of 32 hexadecimal digits. */
export function createIdempotencyKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, '0'),
  ).join('');
}

/** Verbs with which the names of methods begin that only read. */
const reads = /^(?:Download|Export|Get|List|Preview|Read|Retrieve|Stream|Watch)[A-Z]/;

/**
 * Returns true for a method that only reads. The HTTP verb of a method would say so, too, but the
 * code of the options that it is in would be 13 kB of each first view.
 */
export const isRead = ({ name }: DescMethod): boolean => reads.test(name);

/** Time after a failed call in which the same call is a repetition, in milliseconds. */
const repetitionMs = 5 * 60_000;

/**
 * Creates an interceptor that gives each call that changes something an idempotency key. A call
 * that failed keeps its key for five minutes, because it may have had its effect before the
 * response was lost. `now` returns a monotonic time in milliseconds.
 */
export function createSendOnce(now = () => performance.now()): Interceptor {
  const failed = new Map<string, { key: string; at: number }>();
  return (next) => async (request) => {
    if (request.stream || isRead(request.method)) return next(request);
    const call = `${request.url} ${toJsonString(request.method.input, request.message)}`;
    const earlier = failed.get(call);
    failed.delete(call);
    const isRepetition = earlier !== undefined && now() - earlier.at <= repetitionMs;
    const key = isRepetition ? earlier.key : createIdempotencyKey();
    request.header.set('idempotency-key', key);
    try {
      return await next(request);
    } catch (error) {
      failed.set(call, { key, at: now() });
      throw error;
    }
  };
}
