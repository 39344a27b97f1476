import { z } from 'zod';
import type { BatchReference } from '../../store/documents.ts';

const id = z.string().min(1).max(200);
const reference = z.object({
  jobId: id,
  batchId: id,
  market: id,
  // Earlier versions wrote neither region nor units.
  region: z.string().max(200).default(''),
  lane: z.enum(['single', 'bulk']),
  units: z.int().min(1).default(50),
  attempt: z.int().min(0),
}) satisfies z.ZodType<BatchReference>;

/** Encodes a message as JSON in UTF-8. */
export function encode({ jobId, batchId, market, region, lane, units, attempt }: BatchReference): Uint8Array {
  return Buffer.from(JSON.stringify({ jobId, batchId, market, region, lane, units, attempt }));
}

/** Decodes a message. Returns null if it is invalid or belongs to another lane or market. */
export function decode(data: Uint8Array, lane: string, market: string): BatchReference | null {
  let parsed: unknown;
  try {
    parsed = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(data));
  } catch {
    return null;
  }
  const read = reference.safeParse(parsed);
  return read.success && read.data.lane === lane && read.data.market === market ? read.data : null;
}
