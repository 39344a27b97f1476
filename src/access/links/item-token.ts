import { createHmac, timingSafeEqual } from 'node:crypto';
import type { LinkSecrets } from './secrets.ts';

/** Position of a unit within a job. */
export interface ItemPlace {
  batchId: string;
  index: number;
}

const macBytes = 16;

/**
 * Creates the opaque token that addresses a unit in the data path. It is deterministic for a
 * unit and secret, and invalid for any other job.
 */
export function writeItemToken(secrets: LinkSecrets, jobId: string, { batchId, index }: ItemPlace): string {
  const place = Buffer.from(`${batchId}.${index}`);
  return Buffer.concat([mac(secrets.newest(), jobId, place), place]).toString('base64url');
}

/** Returns the unit that a token addresses, or null if the token is invalid for this job. */
export function readItemToken(secrets: LinkSecrets, jobId: string, token: string): ItemPlace | null {
  const bytes = Buffer.from(token, 'base64url');
  const place = bytes.subarray(macBytes);
  const match = /^([0-9a-f-]{36})\.(\d{1,9})$/.exec(place.toString('latin1'));
  if (match === null || bytes.toString('base64url') !== token) return null;
  const given = bytes.subarray(0, macBytes);
  if (!secrets.all().some((secret) => timingSafeEqual(mac(secret, jobId, place), given))) return null;
  return { batchId: match[1]!, index: Number(match[2]) };
}

function mac(secret: string, jobId: string, place: Uint8Array): Buffer {
  return createHmac('sha256', secret).update(`item\n${jobId}\n`).update(place).digest().subarray(0, macBytes);
}
