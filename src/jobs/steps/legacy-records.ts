import type { JobContext, StoreUse } from '../context.ts';
import { type PartContext, writeRecords } from './part.ts';

/** Dependencies of this module. */
export type LegacyRecordsContext = Pick<JobContext, 'log'> &
  StoreUse<'findLegacyBatches' | 'getJob' | 'migrateLegacyRecords' | 'readLegacyRecords'> &
  PartContext;

/** File name prefix of migrated parts. Such a part is written before its batch refers to it. */
const migratedPrefix = 'moved_';

/** Maximum batches migrated by one call. */
const maxMigratedBatches = 100;

/** Returns whether a path is that of a migrated part. */
export function isMigratedPart(jobId: string, path: string): boolean {
  return path.startsWith(`${jobId}/${migratedPrefix}`);
}

/**
 * Moves records that an earlier version stored in the database to the blob store, up to 100 batches per call. Deletes
 * those of jobs whose results were deleted.
 */
export async function migrateLegacyRecords(context: LegacyRecordsContext): Promise<void> {
  const { store, log } = context;
  const batches = await store.findLegacyBatches(maxMigratedBatches);
  for (const batch of batches) {
    const job = await store.getJob(batch.jobId);
    if (job === null || job.filesDeletedAt !== null) {
      await store.migrateLegacyRecords(batch.id, null);
      continue;
    }
    const records = await store.readLegacyRecords(batch);
    // Records written by a worker of this version are in the batch's parts already.
    for (const part of batch.parts)
      for (const index of Object.keys(part.records)) records.delete(Number(index));
    const path = `${batch.jobId}/${migratedPrefix}${batch.seq + 1}_${batch.id}`;
    await store.migrateLegacyRecords(batch.id, await writeRecords(context, path, records));
  }
  if (batches.length > 0) log.info({ batches: batches.length }, 'legacy records migrated');
}
