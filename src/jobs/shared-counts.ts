import { createBoundedMap } from '../base/bounded-map.ts';
import { cacheReading } from '../base/cached-reading.ts';
import type { Clock } from '../base/clock.ts';
import type { Backlog } from '../store/batch-store.ts';
import type { Store } from '../store/store.ts';

/**
 * Counts over many batches that the calls of a process share. Reading them is expensive, so they
 * may be a few seconds old.
 */
export interface SharedCounts {
  /** Returns the queued and claimed batches by market and lane, as they were a few seconds ago. */
  backlog(): Promise<readonly Backlog[]>;
  /**
   * Returns the bytes of a user's kept pages: those that all processes had stored a few seconds
   * ago, and those that this process has stored since.
   */
  keptPageBytes(userId: string): Promise<number>;
  /** Adds kept pages that this process has stored. */
  addKeptPages(userId: string, bytes: number): void;
}

/** Kept pages of a user. */
interface UserPages {
  /** Reads the bytes from the store. */
  read(): Promise<number>;
  /**
   * Bytes that this process has stored since the store was last read, which may already include
   * them.
   */
  added: number;
}

/** Maximum memory of the users whose kept pages are known, in bytes. */
const maxUserBytes = 1024 ** 2;

export function createSharedCounts(
  store: Pick<Store, 'batches' | 'jobs'>,
  clock: Pick<Clock, 'steady'>,
): SharedCounts {
  const users = createBoundedMap<UserPages>({ maxBytes: maxUserBytes, sizeOf: () => 256 });
  const pagesOf = (userId: string): UserPages => {
    const counts = users.get(userId);
    if (counts !== undefined) return counts;
    const read = cacheReading(clock, () => {
      user.added = 0;
      return store.jobs.sumBytes(userId, 'pages');
    });
    const user: UserPages = { read, added: 0 };
    users.set(userId, user);
    return user;
  };
  return {
    backlog: cacheReading(clock, () => store.batches.countBacklog(clock.steady())),
    async keptPageBytes(userId) {
      const user = pagesOf(userId);
      const stored = await user.read();
      return stored + user.added;
    },
    addKeptPages(userId, bytes) {
      pagesOf(userId).added += bytes;
    },
  };
}
