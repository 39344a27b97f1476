/** Job and user that an entry belongs to. */
export interface Owner {
  userId: string;
  jobId: string;
}

/** Queue of waiting entries, taken round-robin by user, and by job within a user. */
export interface FairQueue<Entry> {
  /** Number of entries. */
  readonly size: number;
  /** Number of entries of a user. */
  countOf(userId: string): number;
  add(entry: Entry, owner: Owner): void;
  /** Removes an entry. Does nothing if the entry was already taken. */
  remove(entry: Entry, owner: Owner): void;
  /** Removes and returns the next entry of a user for whom `isAllowed` returns true, or undefined if there is none. */
  take(isAllowed?: (userId: string) => boolean): Entry | undefined;
  /** Returns every entry, in no particular order. */
  entries(): Entry[];
}

/** A user's entries by job. The next job comes first. */
type Jobs<Entry> = Map<string, Set<Entry>>;

/** Creates an empty queue. */
export function createFairQueue<Entry>(): FairQueue<Entry> {
  /** The next user comes first. */
  const users = new Map<string, Jobs<Entry>>();
  const counts = new Map<string, number>();
  let size = 0;

  const drop = (entry: Entry, { userId, jobId }: Owner): boolean => {
    const jobs = users.get(userId);
    const entries = jobs?.get(jobId);
    if (!jobs || !entries?.delete(entry)) return false;
    if (entries.size === 0) jobs.delete(jobId);
    if (jobs.size === 0) users.delete(userId);
    const left = counts.get(userId)! - 1;
    if (left === 0) counts.delete(userId);
    else counts.set(userId, left);
    size -= 1;
    return true;
  };

  /** Moves a key to the end of a map. */
  const rotate = <Value>(map: Map<string, Value>, key: string) => {
    const value = map.get(key);
    if (value === undefined) return;
    map.delete(key);
    map.set(key, value);
  };

  return {
    get size() {
      return size;
    },
    countOf: (userId) => counts.get(userId) ?? 0,
    add: (entry, { userId, jobId }) => {
      const jobs = users.get(userId) ?? new Map<string, Set<Entry>>();
      users.set(userId, jobs);
      const entries = jobs.get(jobId) ?? new Set<Entry>();
      jobs.set(jobId, entries.add(entry));
      counts.set(userId, (counts.get(userId) ?? 0) + 1);
      size += 1;
    },
    remove: drop,
    take: (isAllowed = () => true) => {
      for (const [userId, jobs] of users) {
        if (!isAllowed(userId)) continue;
        const [jobId, entries] = jobs.entries().next().value!;
        const entry = entries.values().next().value!;
        drop(entry, { userId, jobId });
        rotate(jobs, jobId);
        rotate(users, userId);
        return entry;
      }
      return undefined;
    },
    entries: () => [...users.values()].flatMap((jobs) => [...jobs.values()].flatMap((each) => [...each])),
  };
}
