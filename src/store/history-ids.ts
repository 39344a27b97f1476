import { createHash } from 'node:crypto';
import type { Batch } from './batches.ts';
import type { ItemKey } from './history.ts';

/** Characters of a hash in an id: 132 bits. */
const hashLength = 22;

const hashOf = (...parts: readonly string[]): string =>
  createHash('sha256').update(JSON.stringify(parts)).digest('base64url').slice(0, hashLength);

/**
 * Returns the id of an item's state in a series, or with '' of the state for all jobs of the user.
 */
export function trackedItemId({ userId, market, region, key }: ItemKey, series: string): string {
  return hashOf(userId, series, market, region, key);
}

/** Returns the id of an item's change in a job, so that changes are ordered by batch. */
export function changeId(jobId: string, batch: number, { market, region, key }: ItemKey): string {
  return `${jobId}/${String(batch).padStart(8, '0')}/${hashOf(market, region, key)}`;
}

/** Returns the hash of a unit in a series, by which later runs know the items that it listed. */
export function seriesUnit(
  series: string,
  { market, region }: Pick<Batch, 'market' | 'region'>,
  key: string,
): string {
  return hashOf(series, hashOf(market, region, key));
}
