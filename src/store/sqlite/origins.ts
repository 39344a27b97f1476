import { noPause, type OriginPause, type OriginStore } from '../origin-state.ts';
import { grant, type Holding } from '../permits.ts';
import type { SqliteConnection } from './connection.ts';

const columns = 'revision, paused_until AS until, reason, failures, since, probing';

/** Creates the SQLite implementation of OriginStore. */
export function originStore(engine: SqliteConnection): OriginStore {
  const pauseOf = (origin: string): OriginPause => {
    const row = engine.get<PauseRow>(`SELECT ${columns} FROM origins WHERE origin = ?`, origin);
    return row ? readPause(row) : noPause;
  };

  return {
    reserve: async (origin, slots, intervalMs, now) => {
      const span = slots * intervalMs;
      const { nextFree, ...pause } = engine.get<PauseRow & { nextFree: number }>(
        `INSERT INTO origins (origin, next_free) VALUES (?1, ?2 + ?3)
         ON CONFLICT (origin) DO UPDATE SET next_free = max(next_free, ?2) + ?3
         RETURNING next_free AS nextFree, ${columns}`,
        origin,
        now,
        span,
      )!;
      return { first: nextFree - span, pause: readPause(pause) };
    },

    lease: async (origin, request) =>
      engine.write(() => {
        const row = engine.get<{ holdings: string }>(
          'SELECT holdings FROM origins WHERE origin = ?',
          origin,
        );
        const before = row ? (JSON.parse(row.holdings) as Holding[]) : [];
        const { holdings, ...granted } = grant(before, request);
        const pause = engine.get<PauseRow>(
          `INSERT INTO origins (origin, holdings, held_until)
           VALUES (?1, ?2, ?3)
           ON CONFLICT (origin)
             DO UPDATE SET holdings = ?2, held_until = max(held_until, ?3)
           RETURNING ${columns}`,
          origin,
          JSON.stringify(holdings),
          request.until,
        )!;
        return { ...granted, pause: readPause(pause) };
      }),

    release: async (holder) => {
      engine.run(
        `UPDATE origins SET holdings = (
           SELECT json_group_array(json(value))
           FROM json_each(holdings)
           WHERE value ->> 'holder' <> ?1
         )
         WHERE EXISTS (SELECT 1 FROM json_each(holdings) WHERE value ->> 'holder' = ?1)`,
        holder,
      );
    },

    expire: async (before, limit) =>
      engine.run(
        `DELETE FROM origins WHERE origin IN (
           SELECT origin FROM origins
           WHERE next_free < ?1
             AND held_until < ?1
             AND paused_until < ?1
             AND since < ?1
           LIMIT ?2
         )`,
        before,
        limit,
      ),

    getPause: async (origin) => pauseOf(origin),

    putPause: async (origin, { revision, until, reason, failures, since, probing }) =>
      engine.write(() => {
        const written = engine.run(
          `INSERT INTO origins (origin, revision, paused_until, reason, failures, since, probing)
           SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7
           WHERE ?2 = 1 OR EXISTS (SELECT 1 FROM origins WHERE origin = ?1)
           ON CONFLICT (origin) DO UPDATE SET
             revision = ?2,
             paused_until = ?3,
             reason = ?4,
             failures = ?5,
             since = ?6,
             probing = ?7
             WHERE revision = ?2 - 1`,
          origin,
          revision,
          until,
          reason,
          failures,
          since,
          Number(probing),
        );
        return { written: written === 1, pause: pauseOf(origin) };
      }),

    discardTimes: async (origin, latest, now) => {
      engine.run(
        `UPDATE origins SET
           next_free = iif(next_free > ?2, ?4, next_free),
           revision = revision + (paused_until > ?3),
           paused_until = iif(paused_until > ?3, ?4, paused_until)
         WHERE origin = ?1 AND (next_free > ?2 OR paused_until > ?3)`,
        origin,
        latest.slot,
        latest.pause,
        now,
      );
    },

    listPauses: async () =>
      engine
        .all<PauseRow & { origin: string }>(
          `SELECT origin, ${columns} FROM origins WHERE failures > 0 ORDER BY origin`,
        )
        .map((row) => ({ origin: row.origin, ...readPause(row) })),
  };
}

/** A pause as read from a row. */
type PauseRow = Omit<OriginPause, 'probing'> & { probing: number };

function readPause({ revision, until, reason, failures, since, probing }: PauseRow): OriginPause {
  return {
    revision,
    until,
    reason,
    failures,
    since,
    probing: probing === 1,
  };
}
