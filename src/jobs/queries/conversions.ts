import { setImmediate as nextTurn } from 'node:timers/promises';
import { Fault } from '../../contract/fault.ts';
import { createConcurrencyLimit } from '../../fetch/concurrency-limit.ts';

/*
 * Conversions of records run on the thread that answers all requests, and hold some megabytes each. Their parts are
 * produced two at a time, in turn for each user, with a turn for other requests after each part.
 */

/** Most conversions of this process, and most of one user, that have begun and not ended. */
const maxConversions = 64;
const maxPerUser = 8;
/** Parts that are produced at a time. */
const maxParts = 2;
/** `Retry-After` of a conversion above these limits, in milliseconds. */
const retryMs = 5_000;

const parts = createConcurrencyLimit(maxParts);
const running = new Map<string, number>();
let total = 0;

/**
 * Returns the bytes of a conversion, produced within the limits of the process. A reader that pauses holds no other one
 * up. Throws fault `rate_limited` if the user, or all users together, have too many.
 */
export function limitConversion(
  { id: jobId, userId }: { id: string; userId: string },
  bytes: AsyncIterable<Uint8Array>,
): AsyncIterable<Uint8Array> {
  const own = running.get(userId) ?? 0;
  if (own >= maxPerUser || total >= maxConversions) {
    const whose = own >= maxPerUser ? `You have ${own}` : `The service has ${total}`;
    const message = `${whose} conversions of records in progress, which is the limit. Wait until one has ended.`;
    throw new Fault('rate_limited', message, { retryAfterMs: retryMs });
  }
  return convert({ userId, jobId }, bytes);
}

async function* convert(
  owner: { userId: string; jobId: string },
  bytes: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array, void, void> {
  const { userId } = owner;
  total += 1;
  running.set(userId, (running.get(userId) ?? 0) + 1);
  const iterator = bytes[Symbol.asyncIterator]();
  try {
    for (;;) {
      const release = await parts.acquire(undefined, { owner });
      const part = await iterator.next().finally(release);
      if (part.done) return;
      yield part.value;
      await nextTurn();
    }
  } finally {
    await iterator.return?.();
    total -= 1;
    const left = running.get(userId)! - 1;
    if (left > 0) running.set(userId, left);
    else running.delete(userId);
  }
}
