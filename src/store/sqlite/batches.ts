import type { BatchStore, OutcomeWrite } from '../batch-store.ts';
import {
  type BatchCollection,
  type BatchKey,
  type BatchState,
  batchDeclaration,
  type Outcome,
  type QueuedBatch,
  type StoredBatch,
  type Unit,
} from '../batches.ts';
import {
  addOutcomes,
  countOutcomes,
  failOutstanding,
  maxStalledWithProgress,
} from '../outcomes.ts';
import { createCollection } from './collection.ts';
import type { SqliteConnection } from './connection.ts';
import type { SqliteEngine } from './engine.ts';
import { batchMapping, progressStore } from './progress.ts';
import { toColumn } from './sql.ts';

const onlyKey = "SELECT units ->> '$[0].key' FROM batch_units WHERE batch_id = id";

const queued = `
  seq,
  job_id AS jobId,
  id AS batchId,
  market,
  region,
  lane,
  total AS units,
  attempt,
  iif(total = 1, (${onlyKey}), NULL) AS unitKey
`;

/** Creates the SQLite implementation of BatchStore. The reads are in progress.ts. */
export function batchStore(durable: SqliteEngine): BatchStore {
  const { relaxed: engine, cache } = durable;
  return {
    ...(createCollection<StoredBatch>(durable, batchDeclaration) as unknown as BatchCollection),
    ...progressStore(engine, cache),

    queue: async (jobId, limit, now, region) => {
      const among =
        region === undefined
          ? `job_id = ? AND state = 'waiting' AND state <> 'done'`
          : `job_id = ? AND region = ? AND state = 'waiting'`;
      return toQueued(
        engine.all(
          `UPDATE batches
           SET state = 'queued', queued_at = ?, published_at = ?, not_before = NULL
           WHERE id IN (
             SELECT id FROM batches
             WHERE ${among} AND (not_before IS NULL OR not_before <= ?)
             ORDER BY seq LIMIT ?
           )
           RETURNING ${queued}`,
          now,
          now,
          jobId,
          ...(region === undefined ? [] : [region]),
          now,
          Math.max(0, limit),
        ),
      );
    },

    claim: async ({ id, jobId }, attempt, now, leaseUntil) => {
      // Units never change. A batch that another process changes meanwhile has another attempt, or
      // is due at another time, which is only measured.
      const before = engine.get<{ dueAt: number | null; units: string; isInterrupted: number }>(
        `SELECT max(queued_at, coalesce(not_before, 0)) AS dueAt, units,
           attempt > 0 AND not_before IS NULL AS isInterrupted
         FROM batches JOIN batch_units ON batch_id = id WHERE id = ?`,
        id,
      );
      const row = engine.document(
        batchMapping,
        `UPDATE batches SET
           state = 'claimed',
           attempt = attempt + 1,
           stalled_claims = stalled_claims + 1,
           queued_at = ?,
           published_at = ?,
           lease_until = ?,
           not_before = NULL
         WHERE id = ? AND job_id = ? AND (
           (state IN ('waiting', 'queued') AND attempt = ?)
           OR (state = 'claimed' AND lease_until < ?)
         )
         RETURNING ${batchMapping.select}`,
        // Also set for a batch that was waiting, so that requeueStalled() finds it after its
        // release.
        now,
        now,
        leaseUntil,
        id,
        jobId,
        attempt,
        now,
      );
      if (before === null || row === null) return null;
      const { total: _, ...batch } = row;
      return {
        ...batch,
        units: JSON.parse(before.units) as Unit[],
        dueAt: before.dueAt,
        isInterrupted: before.isInterrupted === 1,
      };
    },

    recordOutcomes: async (batch, attempt, write) =>
      writeOutcomes(engine, durable, batch, attempt, write),

    fail: async (jobId, states, outcome, now) =>
      engine.write(() => failBatches(engine, jobId, states, outcome, now)),

    requeueStalled: async (now, publishedBefore, limit, { atLeast, below } = {}) => {
      const requeue = (sets: string, condition: string, order: string, size: number) =>
        toQueued(
          engine.all(
            `UPDATE batches SET ${sets} WHERE id IN (
               SELECT id FROM batches WHERE ${condition}
                 AND (?4 IS NULL OR job_id >= ?4) AND (?5 IS NULL OR job_id < ?5)
                 ORDER BY ${order} LIMIT ?3) RETURNING ${queued}`,
            now,
            publishedBefore,
            Math.max(0, size),
            atLeast ?? null,
            below ?? null,
          ),
        );
      const expired = requeue(
        `state = 'queued',
         queued_at = ?1,
         published_at = ?1,
         lease_until = NULL,
         not_before = NULL`,
        `state = 'claimed' AND lease_until < ?1`,
        'lease_until',
        limit,
      );
      const lost = requeue(
        'published_at = ?1',
        `state = 'queued'
         AND published_at < min(?1, ?2)
         AND (not_before IS NULL OR not_before <= ?1)`,
        'published_at',
        limit - expired.length,
      );
      return [...expired, ...lost];
    },
  };
}

/** Fields of a batch that a write of outcomes depends on. */
interface Condition {
  total: number;
  state: BatchState;
  known: string;
}

/** Columns of a batch that ends, after those of its outcomes. */
const ending = `,
  state = 'done',
  lease_until = NULL,
  not_before = NULL,
  wait = NULL,
  file = ?,
  ended_at = ?`;

/**
 * Adds outcomes to a claimed batch and ends it if the write says so. The counts grow with every
 * outcome, so the update matches nothing if another write came first; then the batch is read again.
 * Uses `durable` for an end that replaces segments: the caller deletes them next, so a power
 * failure must not undo it.
 */
function writeOutcomes(
  engine: SqliteConnection,
  durable: SqliteConnection,
  { id, jobId }: BatchKey,
  attempt: number,
  write: OutcomeWrite,
): boolean {
  const { end } = write;
  for (;;) {
    const batch = engine.get<Condition & { segments: string; succeeded: number; lost: number }>(
      `SELECT total, state, outcomes AS known, segments, success AS succeeded, failed AS lost
       FROM batches WHERE id = ? AND job_id = ? AND attempt = ?`,
      id,
      jobId,
      attempt,
    );
    // A retry of a call whose response was lost.
    if (batch?.state === 'done') return end !== undefined;
    if (batch?.state !== 'claimed') return false;
    const storedOutcomes = JSON.parse(batch.known);
    const before = {
      total: batch.total,
      outcomes: storedOutcomes,
      segments: JSON.parse(batch.segments),
    };
    const { fresh, segments, success, failed, storedBytes } = addOutcomes(id, before, write);
    const replacesSegments = end !== undefined && before.segments.length > 0;
    const writer = replacesSegments ? durable : engine;
    const changed = writer.run(
      `UPDATE batches SET
         outcomes = ?,
         segments = ?,
         pages = coalesce(?, pages),
         success = ?,
         failed = ?,
         stored_bytes = ?,
         stalled_claims = iif(?, min(stalled_claims, ${maxStalledWithProgress}), stalled_claims)
         ${end ? ending : ''}
       WHERE id = ? AND attempt = ? AND state = 'claimed' AND success = ? AND failed = ?`,
      JSON.stringify({ ...storedOutcomes, ...fresh }),
      JSON.stringify(segments),
      toColumn(write.pages),
      success,
      failed,
      storedBytes,
      Object.keys(fresh).length,
      ...(end ? [end.file && JSON.stringify(end.file), end.at] : []),
      id,
      attempt,
      batch.succeeded,
      batch.lost,
    );
    if (changed === 1) return true;
  }
}

/**
 * Ends the batches and increments their attempt, so that a worker's later write has no effect. Must
 * run in a transaction.
 */
function failBatches(
  engine: SqliteConnection,
  jobId: string,
  states: readonly BatchState[],
  outcome: Outcome,
  now: number,
): number {
  const rows = engine.all<Condition & { id: string }>(
    `SELECT id, total, state, outcomes AS known FROM batches
     WHERE job_id = ? AND state <> 'done' AND state IN (SELECT value FROM json_each(?))`,
    jobId,
    JSON.stringify(states),
  );
  let ended = 0;
  for (const { id, total, known: storedOutcomes } of rows) {
    const before = JSON.parse(storedOutcomes);
    const outcomes = failOutstanding(total, before, outcome);
    const { success, failed } = countOutcomes(outcomes);
    engine.run(
      `UPDATE batches SET
         state = 'done',
         attempt = attempt + 1,
         outcomes = ?,
         success = ?,
         failed = ?,
         lease_until = NULL,
         not_before = NULL,
         wait = NULL,
         ended_at = ?
       WHERE id = ?`,
      JSON.stringify(outcomes),
      success,
      failed,
      now,
      id,
    );
    ended += total - Object.keys(before).length;
  }
  return ended;
}

/** Sorts the rows, since the order of RETURNING is undefined. */
function toQueued(rows: (QueuedBatch & { seq: number })[]): QueuedBatch[] {
  return rows.sort((one, other) => one.seq - other.seq).map(({ seq: _, ...row }) => row);
}
