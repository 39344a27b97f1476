/** Job and user that an entry belongs to. */
export interface Owner {
  userId: string;
  jobId: string;
  /** Place among the entries of the job: lower ones come first. 0 by default. */
  order?: number;
  /** Amount of the user's work, in the same unit for all owners of a queue; 0 by default. */
  backlog?: number;
}

/**
 * Queue of waiting entries, taken round-robin by user, and by job within a user; within a job by
 * their order, then in the order of insertion. In three of four turns, users whose backlog is
 * smaller by an order of magnitude go first, so that a small job does not wait for another user's
 * large ones.
 */
export interface FairQueue<Entry> {
  readonly size: number;
  countOf(userId: string): number;
  add(entry: Entry, owner: Owner): void;
  /** Removes an entry. Does nothing if the entry was already taken. */
  remove(entry: Entry, owner: Owner): void;
  /**
   * Removes and returns the next entry of a user for whom `isAllowed` returns true, or undefined if
   * there is none.
   */
  take(isAllowed?: (userId: string) => boolean): Entry | undefined;
  /** Returns every entry, in no particular order. */
  entries(): Entry[];
}

/** A user's entries by job and order. The next job comes first. */
type Jobs<Entry> = Map<string, Map<number, Set<Entry>>>;

/** Every fourth turn goes to the user who has waited longest, regardless of backlogs. */
const roundRobinTurns = 4;

/** Creates an empty queue. */
export function createFairQueue<Entry>(): FairQueue<Entry> {
  /** Queued jobs by user, in the order of their turns. */
  const users = new Map<string, Jobs<Entry>>();
  const counts = new Map<string, number>();
  /** Orders of magnitude of the waiting users' backlogs, as of their last entry. */
  const magnitudes = new Map<string, number>();
  let turn = 0;
  let size = 0;

  const drop = (entry: Entry, { userId, jobId, order = 0 }: Owner): boolean => {
    const jobs = users.get(userId);
    const orders = jobs?.get(jobId);
    const entries = orders?.get(order);
    if (!jobs || !orders || !entries?.delete(entry)) return false;
    if (entries.size === 0) orders.delete(order);
    if (orders.size === 0) jobs.delete(jobId);
    if (jobs.size === 0) users.delete(userId);
    const left = counts.get(userId)! - 1;
    if (left > 0) counts.set(userId, left);
    else {
      counts.delete(userId);
      magnitudes.delete(userId);
    }
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

  const nextUser = (isAllowed: (userId: string) => boolean): string | undefined => {
    const isRoundRobin = turn % roundRobinTurns === roundRobinTurns - 1;
    let next: string | undefined;
    for (const userId of users.keys()) {
      if (!isAllowed(userId)) continue;
      if (next === undefined || magnitudes.get(userId)! < magnitudes.get(next)!) next = userId;
      if (isRoundRobin) break;
    }
    return next;
  };

  return {
    get size() {
      return size;
    },
    countOf: (userId) => counts.get(userId) ?? 0,
    add: (entry, { userId, jobId, order = 0, backlog = 0 }) => {
      const jobs: Jobs<Entry> = users.get(userId) ?? new Map();
      users.set(userId, jobs);
      const orders = jobs.get(jobId) ?? new Map<number, Set<Entry>>();
      jobs.set(jobId, orders);
      orders.set(order, (orders.get(order) ?? new Set<Entry>()).add(entry));
      counts.set(userId, (counts.get(userId) ?? 0) + 1);
      magnitudes.set(userId, Math.floor(Math.log2(backlog + 1)));
      size += 1;
    },
    remove: drop,
    take: (isAllowed = () => true) => {
      const userId = nextUser(isAllowed);
      if (userId === undefined) return undefined;
      turn += 1;
      const jobs = users.get(userId)!;
      const [jobId, orders] = jobs.entries().next().value!;
      const order = Math.min(...orders.keys());
      const entry = orders.get(order)!.values().next().value!;
      drop(entry, { userId, jobId, order });
      rotate(jobs, jobId);
      rotate(users, userId);
      return entry;
    },
    entries: () => {
      const byJob = [...users.values()].flatMap((jobs) => [...jobs.values()]);
      const byOrder = byJob.flatMap((orders) => [...orders.values()]);
      return byOrder.flatMap((sameOrder) => [...sameOrder]);
    },
  };
}
