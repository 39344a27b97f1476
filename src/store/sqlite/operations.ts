import type { OperationsStore, OriginMinute, ProcessReport } from '../operations.ts';
import type { Connection } from './connection.ts';
import { originMinutes, processes } from './shapes.ts';

/** Creates the SQLite implementation of OperationsStore. */
export function operationsStore(engine: Connection): OperationsStore {
  return {
    putProcess: async (report: ProcessReport) => {
      engine.run(
        `INSERT OR REPLACE INTO processes (${processes.columns}) VALUES (${processes.marks})`,
        ...processes.values(report),
      );
    },

    deleteProcess: async (id) => {
      engine.run('DELETE FROM processes WHERE id = ?', id);
    },

    listProcesses: async (since) =>
      engine.documents(
        processes,
        `SELECT ${processes.select} FROM processes WHERE seen_at >= ? ORDER BY started_at, id`,
        since,
      ),

    addOriginMinutes: async (rows: readonly OriginMinute[]) =>
      engine.write(() => {
        for (const row of rows) {
          engine.run(
            `INSERT INTO origin_minutes (${originMinutes.columns}) VALUES (${originMinutes.marks})
             ON CONFLICT DO UPDATE SET requests = requests + excluded.requests,
               refused = refused + excluded.refused, failed = failed + excluded.failed,
               milliseconds = milliseconds + excluded.milliseconds`,
            ...originMinutes.values(row),
          );
        }
      }),

    listOriginMinutes: async (since) =>
      engine.documents(
        originMinutes,
        `SELECT ${originMinutes.select} FROM origin_minutes WHERE minute >= ?
         ORDER BY minute, origin, market, region`,
        since,
      ),
  };
}
