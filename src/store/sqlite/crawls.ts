import type { CrawlStore } from '../store.ts';
import type { Connection } from './connection.ts';

/** Creates the SQLite implementation of CrawlStore. */
export function crawlStore(engine: Connection): CrawlStore {
  return {
    putCrawl: async (key, at, body) => {
      engine.run(
        `INSERT INTO crawls (key, at, body) VALUES (?1, ?2, ?3)
         ON CONFLICT (key) DO UPDATE SET at = ?2, body = ?3 WHERE at <= ?2`,
        key,
        at,
        body,
      );
    },

    findCrawl: async (key, since) =>
      engine.get<{ at: number; body: Uint8Array }>(
        'SELECT at, body FROM crawls WHERE key = ? AND at >= ?',
        key,
        since,
      ) ?? null,
  };
}
