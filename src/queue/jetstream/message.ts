import { headers, type MsgHdrs } from 'nats';
import { z } from 'zod';
import type { BatchReference } from '../../store/batches.ts';
import type { QueueMessage } from '../queue.ts';

const id = z.string().min(1).max(200);
const reference = z.object({
  jobId: id,
  batchId: id,
  market: id,
  region: z.string().max(200),
  lane: z.enum(['single', 'bulk']),
  units: z.int().min(1),
  attempt: z.int().min(0),
  store: z.string().max(300).optional(),
}) satisfies z.ZodType<BatchReference>;

/** Reads JSON in UTF-8. Returns null if it is invalid. */
export function readJson<T>(schema: z.ZodType<T>, data: Uint8Array): T | null {
  try {
    return schema.parse(JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(data)));
  } catch {
    return null;
  }
}

/** Encodes a message as JSON in UTF-8. */
export function encode(message: BatchReference): Uint8Array {
  const { jobId, batchId, market, region, lane, units, attempt, store } = message;
  return Buffer.from(
    JSON.stringify({
      jobId,
      batchId,
      market,
      region,
      lane,
      units,
      attempt,
      store,
    }),
  );
}

/** Headers of the W3C trace context. */
const traceHeaders = ['traceparent', 'tracestate'];

/** Returns the headers of a message, or undefined if there are none. */
export function encodeHeaders({ trace = {} }: QueueMessage): MsgHdrs | undefined {
  const named = traceHeaders.filter((name) => trace[name] !== undefined);
  if (named.length === 0) return undefined;
  const encoded = headers();
  for (const name of named) encoded.set(name, trace[name]!);
  return encoded;
}

/**
 * Decodes a message and its headers. Returns null if it is invalid or belongs to another lane or
 * market.
 */
export function decode(
  { data, headers: messageHeaders }: { data: Uint8Array; headers?: MsgHdrs | undefined },
  lane: string,
  market: string,
): QueueMessage | null {
  const message = readJson(reference, data);
  if (message === null || message.lane !== lane || message.market !== market) return null;
  const names = traceHeaders.filter((name) => messageHeaders?.has(name));
  if (names.length === 0) return message;
  const trace = Object.fromEntries(names.map((name) => [name, messageHeaders!.get(name)]));
  return { ...message, trace };
}
