import { recordRetention } from '../../src/base/limits.ts';
import { readFeed } from '../../src/history/feed.ts';
import type { Store } from '../../src/store/store.ts';
import { contextWith } from '../support/jobs/context.ts';

/** Readers of the change feeds of users, each of which continues after its last cursor. */
export interface FeedReaders {
  /** Reads what follows in the feed of a user. */
  read(userId: string): Promise<void>;
  /** Returns a sentence for each change that was not read exactly once. */
  check(): Promise<string[]>;
}

/** Small, so that cursors lie within runs. */
const limit = 3;

/** Creates the readers of a run's feeds. They read `store` without simulated faults. */
export function createFeedReaders(store: Store): FeedReaders {
  const retention = {
    ...recordRetention,
    historyMs: null,
    jobsMs: null,
    resultsMs: null,
  };
  const context = contextWith({ store, settings: { retention } });
  const readers = new Map<string, { cursor: string; ids: string[] }>();

  const read = async (userId: string) => {
    const reader = readers.get(userId) ?? { cursor: '', ids: [] };
    readers.set(userId, reader);
    for (let hasMore = true; hasMore; ) {
      const selection = { after: reader.cursor, limit, type: null, market: '', series: '' };
      const page = await readFeed(context, userId, selection);
      reader.ids.push(...page.changes.map(({ id }) => id));
      reader.cursor = page.nextCursor;
      hasMore = page.hasMore;
    }
  };

  return {
    read,
    async check() {
      const problems: string[] = [];
      for (const [userId, { ids }] of readers) {
        await read(userId);
        const stored = (await store.itemChanges.find({ userId }, { order: [] })).map(
          ({ id }) => id,
        );
        const once = new Set(ids);
        const missed = stored.filter((id) => !once.has(id));
        if (missed.length > 0) problems.push(`the feed of ${userId} missed ${missed.join(', ')}`);
        if (once.size < ids.length) problems.push(`the feed of ${userId} repeated changes`);
      }
      return problems;
    },
  };
}
