import { inChunks } from '../chunks.ts';
import { readCursor, rowsToRead, toPage } from '../cursor.ts';
import { countsOf, type HistoryStore, type ItemChangeType, type ItemKey } from '../history.ts';
import type { Connection, RowReader } from './connection.ts';
import type { SqliteEngine } from './engine.ts';
import { type Condition, readNewest } from './paging.ts';
import { ruleStore } from './rules.ts';
import { itemChanges, observations, trackedItems, trackingRuns } from './shapes.ts';

/** Ids per statement. */
const chunkSize = 100;

const itemColumns = 'user_id = ? AND market = ? AND region = ? AND key = ?';
const itemValues = ({ userId, market, region, key }: ItemKey) => [userId, market, region, key];

/** Reads the documents of a table with these ids, some per statement. */
function readByIds<T>(
  engine: Connection,
  table: string,
  shape: RowReader<T> & { select: string },
  ids: readonly string[],
): T[] {
  return [...inChunks(ids, chunkSize)].flatMap((chunk) => {
    const marks = Array.from({ length: chunkSize }, () => '?').join(', ');
    // The same statement for every number of ids, so that it is prepared once.
    const padded = [...chunk, ...Array.from({ length: chunkSize - chunk.length }, () => null)];
    return engine.documents(shape, `SELECT ${shape.select} FROM ${table} WHERE id IN (${marks})`, ...padded);
  });
}

/** Creates the SQLite implementation of HistoryStore. */
export function historyStore(engine: SqliteEngine): HistoryStore {
  return { ...runStore(engine), ...itemStore(engine), ...historyReads(engine), ...ruleStore(engine) };
}

type RunMethods = Pick<
  HistoryStore,
  | 'createTrackingRun'
  | 'getTrackingRun'
  | 'claimTrackingRuns'
  | 'putRunProgress'
  | 'hasEarlierRun'
  | 'beginRun'
>;

function runStore(engine: SqliteEngine): RunMethods {
  const { relaxed } = engine;
  return {
    createTrackingRun: async (run) =>
      relaxed.run(
        `INSERT INTO tracking_runs (${trackingRuns.columns}) VALUES (${trackingRuns.marks}) ON CONFLICT DO NOTHING`,
        ...trackingRuns.values(run),
      ) === 1,

    getTrackingRun: async (jobId) =>
      engine.document(
        trackingRuns,
        `SELECT ${trackingRuns.select} FROM tracking_runs WHERE job_id = ?`,
        jobId,
      ),

    claimTrackingRuns: async (now, leaseUntil, limit) => {
      // A read before the write, because a process polls often and seldom finds a run.
      const due = 'SELECT job_id FROM tracking_runs WHERE due_at <= ? ORDER BY due_at, job_id LIMIT ?';
      if (limit <= 0 || engine.get(due, now, 1) === null) return [];
      const claimed = relaxed.all<{ jobId: string }>(
        `UPDATE tracking_runs SET take = take + 1, due_at = ? WHERE job_id IN (${due}) RETURNING job_id AS jobId`,
        leaseUntil,
        now,
        limit,
      );
      const select = `SELECT ${trackingRuns.select} FROM tracking_runs WHERE job_id = ?`;
      return claimed
        .map(({ jobId }) => engine.document(trackingRuns, select, jobId)!)
        .sort((a, b) => a.at - b.at);
    },

    putRunProgress: async (jobId, take, { dueAt, turn, stage, nextBatch, counts, messages, doneAt }) =>
      relaxed.run(
        `UPDATE tracking_runs SET due_at = ?, turn = ?, stage = ?, next_batch = ?, counts = ?, messages = ?, done_at = ?
         WHERE job_id = ? AND take = ? AND stage <> 'done'`,
        dueAt,
        turn,
        stage,
        nextBatch,
        JSON.stringify(counts),
        messages,
        doneAt,
        jobId,
        take,
      ) === 1,

    hasEarlierRun: async ({ userId, series, at, jobId }) =>
      engine.get(
        `SELECT 1 FROM tracking_runs WHERE user_id = ? AND due_at IS NOT NULL AND (at, job_id) < (?, ?)
         AND (turn IN ('waiting', 'active') OR turn = 'failed' AND series = ? AND series <> '') LIMIT 1`,
        userId,
        at,
        jobId,
        series,
      ) !== null,

    beginRun: async ({ jobId, take }) =>
      relaxed.run(
        `UPDATE OR IGNORE tracking_runs SET turn = 'active' WHERE job_id = ? AND take = ? AND turn IS NOT NULL`,
        jobId,
        take,
      ) === 1,
  };
}

type ItemMethods = Pick<
  HistoryStore,
  'getTrackedItems' | 'putTrackedItems' | 'addObservations' | 'addChanges' | 'getChanges' | 'findAbsentItems'
>;

function itemStore(engine: SqliteEngine): ItemMethods {
  const { relaxed } = engine;
  const putItem = `INSERT INTO tracked_items (${trackedItems.columns}) VALUES (${trackedItems.marks})
    ON CONFLICT (id) DO UPDATE SET source = excluded.source, is_present = excluded.is_present,
      changed_at = excluded.changed_at, changed_job = excluded.changed_job, seen_at = excluded.seen_at,
      seen_job = excluded.seen_job, seen_batch = excluded.seen_batch, item_values = excluded.item_values,
      rules = excluded.rules
    WHERE (tracked_items.seen_at, tracked_items.seen_job) <= (excluded.seen_at, excluded.seen_job)`;
  const putObservation = `INSERT INTO observations (${observations.columns}) VALUES (${observations.marks})
    ON CONFLICT DO NOTHING`;
  const endObservation = `UPDATE observations SET ended_at = ? WHERE ${itemColumns} AND at = ? AND job_id = ?`;
  const putChange = `INSERT INTO item_changes (${itemChanges.columns}) VALUES (${itemChanges.marks})
    ON CONFLICT DO NOTHING`;
  return {
    getTrackedItems: async (ids) => readByIds(engine, 'tracked_items', trackedItems, ids),

    putTrackedItems: async (items) =>
      relaxed.write(() => {
        for (const item of items) relaxed.run(putItem, ...trackedItems.values(item));
      }),

    addObservations: async (added) =>
      relaxed.write(() => {
        for (const { observation, previous } of added) {
          relaxed.run(putObservation, ...observations.values(observation));
          if (previous === null) continue;
          relaxed.run(
            endObservation,
            observation.at,
            ...itemValues(observation),
            previous.at,
            previous.jobId,
          );
        }
      }),

    addChanges: async (changes) =>
      relaxed.write(() => {
        for (const change of changes) relaxed.run(putChange, ...itemChanges.values(change));
      }),

    getChanges: async (ids) => readByIds(engine, 'item_changes', itemChanges, ids),

    findAbsentItems: async (userId, series, sources, { jobId, before }, limit) =>
      engine.documents(
        trackedItems,
        `SELECT ${trackedItems.select} FROM tracked_items
         WHERE user_id = ? AND series = ? AND series <> '' AND source IN (SELECT value FROM json_each(?))
           AND seen_job <> ? AND seen_at < ? AND is_present = 1 ORDER BY id LIMIT ?`,
        userId,
        series,
        JSON.stringify(sources),
        jobId,
        before,
        limit,
      ),
  };
}

type ReadMethods = Pick<
  HistoryStore,
  'listTrackedItems' | 'listObservations' | 'findObservation' | 'listChanges' | 'countChanges'
>;

function historyReads(engine: SqliteEngine): ReadMethods {
  return {
    listTrackedItems: async (userId, series, { market, region, search }, page) => {
      const where: Condition[] = [['user_id = ? AND series = ?', userId, series]];
      if (market !== undefined) where.push(['market = ?', market]);
      if (region !== undefined) where.push(['region = ?', region]);
      if (search !== undefined)
        where.push([
          `(instr(fold(key), ?) > 0 OR instr(fold(coalesce(json_extract(item_values, '$.title'), '')), ?) > 0)`,
          search.toLowerCase(),
          search.toLowerCase(),
        ]);
      const order = ['changedAt', 'id'] as const;
      return readNewest(engine, { table: 'tracked_items', shape: trackedItems, where, order }, page);
    },

    listObservations: async (item, from, to, page) => {
      const where: Condition[] = [
        [itemColumns, ...itemValues(item)],
        ['at >= ? AND at < ?', from, to],
      ];
      const order = ['at', 'jobId'] as const;
      return readNewest(engine, { table: 'observations', shape: observations, where, order }, page);
    },

    findObservation: async (item, before) =>
      engine.document(
        observations,
        `SELECT ${observations.select} FROM observations WHERE ${itemColumns} AND at < ?
         ORDER BY at DESC, job_id DESC LIMIT 1`,
        ...itemValues(item),
        before,
      ),

    listChanges: async (jobId, type, page) => {
      const after = page.after ? readCursor(page).id : `${jobId}/`;
      const rows = engine.documents(
        itemChanges,
        `SELECT ${itemChanges.select} FROM item_changes
         WHERE id > ? AND id < ? ${type === null ? '' : 'AND type = ?'} ORDER BY id LIMIT ?`,
        after,
        `${jobId}0`,
        ...(type === null ? [] : [type]),
        rowsToRead(page),
      );
      return toPage(rows, page, ({ at, id }) => ({ at, id }));
    },

    countChanges: async (jobId) => {
      const rows = engine.all<{ type: ItemChangeType; changes: number }>(
        'SELECT type, count(*) AS changes FROM item_changes WHERE id > ? AND id < ? GROUP BY type',
        `${jobId}/`,
        `${jobId}0`,
      );
      return countsOf(rows.map(({ type, changes }) => [type, changes]));
    },
  };
}
