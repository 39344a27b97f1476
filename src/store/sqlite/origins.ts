import type { OriginStore } from '../store.ts';
import type { Engine } from './engine.ts';

/** Politeness in SQLite: a row per origin with the time of its next free slot. */
export function originStore(engine: Engine): OriginStore {
  return {
    reserveOrigin: async (origin, slots, intervalMs, now) => {
      const span = slots * intervalMs;
      const { nextFree } = engine.get<{ nextFree: number }>(
        `INSERT INTO origins (origin, next_free, paused_until, reason) VALUES (?1, ?2 + ?3, 0, '')
         ON CONFLICT (origin) DO UPDATE SET next_free = max(next_free, ?2) + ?3 RETURNING next_free AS nextFree`,
        origin,
        now,
        span,
      )!;
      return nextFree - span;
    },

    pauseOrigin: async (origin, until, reason) => {
      engine.run(
        `INSERT INTO origins (origin, next_free, paused_until, reason) VALUES (?1, ?2, ?2, ?3)
         ON CONFLICT (origin) DO UPDATE SET
           next_free = max(next_free, ?2), paused_until = ?2, reason = ?3 WHERE paused_until < ?2`,
        origin,
        until,
        reason,
      );
    },

    listPauses: async (now) =>
      engine
        .all<{ origin: string; until: number; reason: string }>(
          'SELECT origin, paused_until AS until, reason FROM origins WHERE paused_until > ? ORDER BY origin',
          now,
        )
        .map((pause) => ({ ...pause })),
  };
}
