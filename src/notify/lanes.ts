/** Messages to one receiver at once; one alone while it fails. */
const atOnce = 4;
/** Messages to all receivers at once, of one process. */
export const mostAtOnce = 256;
/** What a message is taken to need before one has been sent, in milliseconds. */
const unknownMs = 1_000;
const shortestWaitMs = 1_000;
const longestWaitMs = 10 * 60_000;

interface Lane {
  running: number;
  failing: boolean;
  /** What the last message needed. */
  tookMs: number;
  /** When the last of those who were sent away is to come back. */
  line: number;
}

/** Receivers that messages go to, each at its own pace, so that one that hangs holds no other up. */
export interface Lanes {
  /** Milliseconds after which it is this message's turn; 0: now, and it counts until `leave`. */
  enter(receiver: string, now: number): number;
  /** Says what the message came to. */
  leave(receiver: string, now: number, tookMs: number, well: boolean): void;
  running(): number;
}

/** Makes the lanes of one process. */
export function createLanes(): Lanes {
  const lanes = new Map<string, Lane>();
  let running = 0;
  return {
    enter(receiver, now) {
      const lane = lanes.get(receiver) ?? { running: 0, failing: false, tookMs: unknownMs, line: 0 };
      lanes.set(receiver, lane);
      const room = lane.failing ? 1 : atOnce;
      if (lane.running < room) {
        lane.running += 1;
        running += 1;
        return 0;
      }
      // Each is told to come back when those before it are through, so that a long line is not asked again and again.
      const end = Math.max(lane.line, now) + lane.tookMs / room;
      lane.line = Math.min(end, now + longestWaitMs);
      return Math.max(lane.line - now, shortestWaitMs);
    },
    leave(receiver, now, tookMs, well) {
      const lane = lanes.get(receiver)!;
      running -= 1;
      lane.running -= 1;
      lane.tookMs = tookMs;
      if (well && lane.failing) lane.line = now;
      lane.failing = !well;
      if (lane.running === 0 && well && lane.line <= now) lanes.delete(receiver);
    },
    running: () => running,
  };
}
