import type { DriftRecord } from '../documents.ts';
import type { DriftStore } from '../store.ts';
import type { Connection } from './connection.ts';

/** Creates the SQLite implementation of DriftStore. */
export function driftStore(engine: Connection): DriftStore {
  return {
    getDrift: async (market, page) => {
      const row = engine.get<DriftRecord>('SELECT * FROM drift WHERE market = ? AND page = ?', market, page);
      return row && { ...row };
    },

    putDrift: async ({ market, page, revision, state }) => {
      const written =
        revision === 1
          ? engine.run('INSERT INTO drift VALUES (?, ?, 1, ?) ON CONFLICT DO NOTHING', market, page, state)
          : engine.run(
              'UPDATE drift SET revision = ?3, state = ?4 WHERE market = ?1 AND page = ?2 AND revision = ?3 - 1',
              market,
              page,
              revision,
              state,
            );
      return written === 1;
    },

    listDrift: async () =>
      engine.all<DriftRecord>('SELECT * FROM drift ORDER BY market, page').map((row) => ({ ...row })),
  };
}
