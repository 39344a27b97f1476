import {
  type Backlog,
  type InFlightCount,
  inFlightByJob,
  type ProgressStore,
  readCounts,
} from '../batch-store.ts';
import { type Batch, batchDeclaration, type StoredBatch, type Unit } from '../batches.ts';
import { inChunks, readInOrder } from '../collection.ts';
import type { Counts } from '../documents.ts';
import type { RowReader, SqliteConnection, Value } from './connection.ts';
import type { ReadCache } from './read-cache.ts';
import { mapWhole } from './sql.ts';

/** Maximum complete batches in memory. */
const readChunk = 20;

const sums = `
  sum(total),
  sum(success),
  sum(failed),
  count(*),
  count(*) FILTER (WHERE state = 'done' AND success > 0),
  count(*) FILTER (WHERE state = 'done' AND success = 0)
`;
const countsOfJob = `SELECT ${sums} FROM batches WHERE job_id = ? GROUP BY job_id`;
const counts = {
  read: (row: readonly Value[]) => {
    const [units, success, failed, batches, good, bad] = row as [
      number,
      number,
      number,
      number,
      number,
      number,
    ];
    return readCounts({
      units,
      success,
      failed,
      batches,
      good,
      bad,
    });
  },
};

/** Table `batches`, whose units are in `batch_units`. */
export const batchMapping = mapWhole<StoredBatch>(batchDeclaration);

/** Batches with their units: a SELECT without conditions, and the reader of its rows. */
export const wholeBatches: RowReader<Batch> & { readonly sql: string } = {
  sql: `SELECT ${batchMapping.select}, units FROM batches JOIN batch_units ON batch_id = id`,
  read: (row) => {
    const { total: _, ...batch } = batchMapping.read(row);
    return { ...batch, units: JSON.parse(row.at(-1) as string) as Unit[] };
  },
};

/** Creates the reading methods of BatchStore for SQLite. */
export function progressStore(engine: SqliteConnection, cache: ReadCache): ProgressStore {
  return {
    countInFlight: async (jobIds, now) =>
      inFlightByJob(
        engine.all<InFlightCount>(
          `SELECT
             job_id AS jobId,
             region,
             count(*) FILTER (
               WHERE state <> 'queued' OR not_before IS NULL OR not_before <= ?1
             ) AS batches,
             count(*) FILTER (WHERE state = 'queued' AND not_before > ?1) AS deferred
           FROM batches
           WHERE job_id IN (SELECT value FROM json_each(?2))
             AND state <> 'done'
             AND state IN ('queued', 'claimed')
           GROUP BY job_id, region`,
          now,
          JSON.stringify(jobIds),
        ),
      ),

    countJobs: async (jobIds) => {
      const found = jobIds.map(
        (jobId) => [jobId, cache.document(counts, countsOfJob, jobId)] as const,
      );
      return new Map(found.filter((entry): entry is [string, Counts] => entry[1] !== null));
    },

    read: (jobId, among) => {
      if (among === undefined) return readInOrder(readChunk, batchesAfter(engine, jobId));
      if ('seqs' in among) return readSeqs(engine, jobId, among.seqs);
      return readInOrder(1, batchesWithKeyAfter(engine, jobId, among.key));
    },

    countBacklog: async (now) =>
      engine
        .all<Backlog>(
          `SELECT
             market,
             lane,
             count(*) FILTER (WHERE state = 'queued') AS queued,
             count(*) FILTER (WHERE state = 'claimed') AS claimed,
             min(max(queued_at, coalesce(not_before, 0))) FILTER (
               WHERE state = 'queued'
                 AND queued_at <= ?1
                 AND (not_before IS NULL OR not_before <= ?1)
             ) AS dueAt
           FROM (
             SELECT market, lane, state, queued_at, not_before
             FROM batches WHERE state = 'queued'
             UNION ALL
             SELECT market, lane, state, NULL, NULL
             FROM batches WHERE state = 'claimed'
           )
           GROUP BY market, lane
           ORDER BY market, lane`,
          now,
        )
        .map((row) => ({ ...row })),
  };
}

/** Returns a function that reads the next batches of a job. */
const batchesAfter = (engine: SqliteConnection, jobId: string) => (seq: number) =>
  engine.documents(
    wholeBatches,
    `${wholeBatches.sql} WHERE job_id = ? AND seq > ? ORDER BY seq LIMIT ${readChunk}`,
    jobId,
    seq,
  );

/** Returns a function that reads the next batch of a job that has a unit with a key. */
const batchesWithKeyAfter =
  (engine: SqliteConnection, jobId: string, key: string) => (seq: number) =>
    engine.documents(
      wholeBatches,
      `${wholeBatches.sql} WHERE job_id = ?1 AND seq = (
       SELECT min(seq) FROM unit_keys WHERE job_id = ?1 AND key = ?2 AND seq > ?3)`,
      jobId,
      key,
      seq,
    );

/** Yields the batches of a job in these positions. */
async function* readSeqs(
  engine: SqliteConnection,
  jobId: string,
  seqs: readonly number[],
): AsyncGenerator<Batch> {
  for (const chunk of inChunks(seqs, readChunk))
    yield* engine.documents(
      wholeBatches,
      `${wholeBatches.sql} WHERE job_id = ? AND seq IN (SELECT value FROM json_each(?)) ORDER BY seq`,
      jobId,
      JSON.stringify(chunk),
    );
}
