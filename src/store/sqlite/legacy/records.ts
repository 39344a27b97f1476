import type { Batch, Part } from '../../documents.ts';
import type { LegacyRecordStore } from '../../store.ts';
import type { Connection } from '../connection.ts';
import { readUnits } from '../progress.ts';
import { batches } from '../shapes.ts';

const exists = `SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'earlier_payloads'`;

/**
 * Creates the SQLite implementation of LegacyRecordStore. Earlier versions stored records in a table, which is
 * dropped when it is empty.
 */
export function legacyRecordStore(engine: Connection): LegacyRecordStore {
  /**
   * Runs a function in a transaction, during which the table cannot be dropped. Returns null if the table does not
   * exist.
   */
  const within = <T>(step: () => T): T | null =>
    engine.write(() => (engine.get(exists) === null ? null : step()));

  return {
    readLegacyRecords: async (batch: Batch) => {
      const rows = within(() =>
        engine.all<{ unit: number; body: Uint8Array }>(
          'SELECT unit, body FROM earlier_payloads WHERE batch_id = ? ORDER BY unit',
          batch.id,
        ),
      );
      const known = (rows ?? []).filter(({ unit }) => batch.outcomes[unit]?.status === 'SUCCESS');
      return new Map(known.map(({ unit, body }) => [unit, body]));
    },

    findLegacyBatches: async (limit) => {
      if (engine.get(exists) === null) return [];
      const found = within(() => {
        if (engine.get('SELECT 1 FROM earlier_payloads LIMIT 1') === null) {
          engine.run('DROP TABLE earlier_payloads');
          return [];
        }
        const rows = engine.documents(
          batches,
          `SELECT ${batches.select} FROM batches
           WHERE state = 'done' AND id IN (SELECT batch_id FROM earlier_payloads) ORDER BY id LIMIT ?`,
          limit,
        );
        return rows.map((row) => readUnits(engine, row));
      });
      return found ?? [];
    },

    migrateLegacyRecords: async (batchId, part) => {
      within(() => {
        const row = engine.get<{ parts: string }>('SELECT parts FROM batches WHERE id = ?', batchId);
        if (row && part) {
          const others = (JSON.parse(row.parts) as Part[]).filter(({ path }) => path !== part.path);
          engine.run('UPDATE batches SET parts = ? WHERE id = ?', JSON.stringify([...others, part]), batchId);
        }
        engine.run('DELETE FROM earlier_payloads WHERE batch_id = ?', batchId);
      });
    },
  };
}
