/** Whose work an entry of a line is. */
export interface Owner {
  userId: string;
  jobId: string;
}

/** Entries that wait, taken in turn: one of each user, of each user's jobs one after the other. */
export interface FairLine<Entry> {
  /** Number of entries. */
  readonly size: number;
  /** Number of entries of a user. */
  countOf(userId: string): number;
  add(entry: Entry, owner: Owner): void;
  /** Removes an entry; nothing happens when it has been taken. */
  remove(entry: Entry, owner: Owner): void;
  /** Takes out the next entry of those users for whom `isAllowed` holds; undefined when there is none. */
  take(isAllowed?: (userId: string) => boolean): Entry | undefined;
  /** Every entry, in no order. */
  entries(): Entry[];
}

/** A user's entries by job. The job whose turn is next stands first. */
type Jobs<Entry> = Map<string, Set<Entry>>;

/** Creates an empty line. */
export function createFairLine<Entry>(): FairLine<Entry> {
  /** The user whose turn is next stands first. */
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

  /** Puts a key at the end of a map that still has it. */
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
