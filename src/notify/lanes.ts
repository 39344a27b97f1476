import type { Clock } from '../base/clock.ts';

/** Messages to one receiver at once; one alone while it fails. */
const atOnce = 4;
/** Messages to one receiver that wait here for their turn, and how long they may, in milliseconds. */
const mostWaiting = 500;
const patienceMs = 5_000;
/** Messages to all receivers that run or wait here. */
export const mostHeld = 1_000;
/** What a message is taken to need before one has been sent, in milliseconds. */
const unknownMs = 50;
const shortestWaitMs = 1_000;
const longestWaitMs = 10 * 60_000;

/** A message to be sent. */
export interface Task {
  /** Sends it; resolves with whether the receiver took it, and never rejects. */
  run(): Promise<boolean>;
  /** Gives it back, to be sent so many milliseconds later; never rejects. */
  putOff(ms: number): Promise<void>;
}

interface Lane {
  running: number;
  waiting: Task[];
  failing: boolean;
  /** What the last message needed. */
  tookMs: number;
  /** When the last of those that were put off is to come back. */
  line: number;
}

/** Receivers that messages go to, each at its own pace, so that one that hangs holds no other up. */
export interface Lanes {
  /** Sends a message when it is its turn; puts it off where that would take long. */
  add(receiver: string, task: Task): Promise<void>;
  /** Messages that run or wait. */
  held(): number;
  /** Resolves when there are none. */
  idle(): Promise<void>;
  /** Gives back what waits. */
  clear(): Promise<void>;
}

const roomOf = ({ failing }: Lane) => (failing ? 1 : atOnce);

/** Makes the lanes of one process. */
export function createLanes(clock: Clock): Lanes {
  const lanes = new Map<string, Lane>();
  const underWay = new Set<Promise<void>>();

  const putOff = async (lane: Lane, task: Task) => {
    // Each is told to come back when those before it are through, so that a long line is not asked again and again.
    const now = clock.now();
    const turn = Math.max(lane.line, now) + lane.tookMs / roomOf(lane);
    lane.line = Math.min(turn, now + longestWaitMs);
    await task.putOff(Math.max(lane.line - now, shortestWaitMs));
  };

  const run = async (receiver: string, lane: Lane, task: Task) => {
    const begun = clock.now();
    const well = await task.run();
    const now = clock.now();
    lane.running -= 1;
    lane.tookMs = now - begun;
    if (well && lane.failing) lane.line = now;
    lane.failing = !well;
    if (!well) await Promise.all(lane.waiting.splice(0).map((each) => putOff(lane, each)));
    while (lane.waiting.length > 0 && lane.running < roomOf(lane))
      start(receiver, lane, lane.waiting.shift()!);
    if (lane.running === 0 && !lane.failing && lane.line <= now) lanes.delete(receiver);
  };

  const start = (receiver: string, lane: Lane, task: Task) => {
    lane.running += 1;
    const running = run(receiver, lane, task).finally(() => underWay.delete(running));
    underWay.add(running);
  };

  return {
    async add(receiver, task) {
      const fresh: Lane = { running: 0, waiting: [], failing: false, tookMs: unknownMs, line: 0 };
      const lane = lanes.get(receiver) ?? fresh;
      lanes.set(receiver, lane);
      if (lane.running < roomOf(lane)) return start(receiver, lane, task);
      const turnMs = ((lane.waiting.length + 1) * lane.tookMs) / atOnce;
      if (lane.failing || turnMs > patienceMs || lane.waiting.length === mostWaiting)
        return putOff(lane, task);
      lane.waiting.push(task);
    },
    held: () => underWay.size + lanes.values().reduce((sum, { waiting }) => sum + waiting.length, 0),
    async idle() {
      while (underWay.size > 0) await Promise.all(underWay);
    },
    async clear() {
      const waiting = [...lanes.values()].flatMap((lane) => lane.waiting.splice(0));
      await Promise.all(waiting.map((task) => task.putOff(0)));
    },
  };
}
