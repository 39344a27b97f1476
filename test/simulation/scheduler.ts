/** A process that owns tasks. Tasks of a dead owner never run; tasks of a frozen one run later. */
export interface Owner {
  readonly alive: boolean;
  /** Simulated time until which its tasks are delayed. */
  readonly frozenUntil: number;
}

/** Handle of a scheduled task. */
export interface Scheduled {
  cancel(): void;
}

/** A task to schedule. */
export interface Task {
  /** The owning process. Null for tasks that faults do not affect. */
  owner: Owner | null;
  run(): unknown;
  /** Runs instead if the owner has died: a request that it had already sent. */
  orphaned?: () => unknown;
}

/** Simulated time: runs one task after the other in order of their times. */
export interface Scheduler {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Number of tasks run so far. */
  readonly steps: number;
  after(ms: number, task: Task): Scheduled;
  /** Resolves after `ms` of simulated time. */
  sleep(ms: number): Promise<void>;
  /** Runs tasks until `done`, checked after every task, returns true, or until time `end`. */
  run(end: number, done: () => boolean): Promise<void>;
}

interface Entry extends Task {
  at: number;
  order: number;
  cancelled: boolean;
}

/** Runs everything that awaits only the task just run. */
const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

/** Creates a scheduler whose clock starts at `start`, in milliseconds since the epoch. */
export function createScheduler(start: number): Scheduler {
  let now = start;
  let order = 0;
  let steps = 0;
  const heap: Entry[] = [];

  const after = (ms: number, task: Task): Scheduled => {
    const entry: Entry = { ...task, at: now + Math.max(0, ms), order: order++, cancelled: false };
    push(heap, entry);
    return {
      cancel: () => {
        entry.cancelled = true;
      },
    };
  };

  const step = async (entry: Entry): Promise<void> => {
    const { owner } = entry;
    if (entry.cancelled) return;
    if (owner !== null && !owner.alive) {
      if (entry.orphaned === undefined) return;
      await entry.orphaned();
    } else if (owner !== null && owner.frozenUntil > now) {
      entry.at = owner.frozenUntil;
      push(heap, entry);
      return;
    } else await entry.run();
    steps += 1;
    await nextTurn();
  };

  return {
    now: () => now,
    get steps() {
      return steps;
    },
    after,
    sleep: (ms) => new Promise((resolve) => after(ms, { owner: null, run: resolve })),
    async run(end, done) {
      while (!done()) {
        const entry = heap[0];
        if (entry === undefined || entry.at > end) return;
        pop(heap);
        now = Math.max(now, entry.at);
        await step(entry);
      }
    },
  };
}

const isBefore = (one: Entry, other: Entry) =>
  one.at < other.at || (one.at === other.at && one.order < other.order);

function push(heap: Entry[], entry: Entry): void {
  let at = heap.length;
  heap.push(entry);
  while (at > 0) {
    const parent = (at - 1) >> 1;
    if (!isBefore(entry, heap[parent]!)) break;
    heap[at] = heap[parent]!;
    at = parent;
  }
  heap[at] = entry;
}

function pop(heap: Entry[]): void {
  const last = heap.pop()!;
  if (heap.length === 0) return;
  let at = 0;
  for (;;) {
    let child = 2 * at + 1;
    if (child >= heap.length) break;
    if (child + 1 < heap.length && isBefore(heap[child + 1]!, heap[child]!)) child += 1;
    if (!isBefore(heap[child]!, last)) break;
    heap[at] = heap[child]!;
    at = child;
  }
  heap[at] = last;
}
