import { setTimeout as wait } from 'node:timers/promises';
import { Fault } from '../contract/fault.ts';
import type { Log } from './log.ts';

/** Source of time. Injected everywhere, so that tests control it. */
export interface Clock {
  /**
   * Time of day in milliseconds since the epoch, UTC: for times that people read, and for deadlines
   * that they set. It may be set forward or back.
   */
  now(): number;
  /**
   * Milliseconds of a clock that never steps, for leases, delays, and durations. The processes of
   * an installation agree on it, also after a restart. It may differ from the time of day by any
   * amount.
   */
  steady(): number;
  /**
   * Resolves after `ms` milliseconds. Rejects with the signal's reason if the signal aborts first.
   */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** The system clock. A pending sleep keeps the process alive until its signal is aborted. */
export const systemClock: Clock = {
  now: () => Date.now(),
  steady: () => Math.round(performance.timeOrigin + performance.now()),
  sleep: async (ms, signal) => {
    await wait(ms, undefined, signal ? { signal } : {});
  },
};

/** Returns the time of day that a clock shows at a time of `steady()`. */
export function timeOfDay(clock: Pick<Clock, 'now' | 'steady'>, steadyTime: number): number {
  return steadyTime - clock.steady() + clock.now();
}

/** Clock state that the processes of an installation share. */
export interface ClockState {
  /** Steady time minus the time of day, in milliseconds. */
  aheadMs: number;
  /** A steady time that has passed: at most some seconds ago while a process runs. */
  reached: number;
}

/** Stores the ClockState of an installation. */
export interface ClockRecord {
  /** Returns the stored state; null for a new installation. */
  read(): Promise<ClockState | null>;
  /** Stores the state of a new installation, unless another process did. */
  create(state: ClockState): Promise<void>;
  /** Replaces `aheadMs`. Returns false, and changes nothing, if it is not `from`. */
  change(from: number, to: number): Promise<boolean>;
  /** Moves `reached` forward. */
  reach(time: number): Promise<void>;
}

/** Steady time and time of day, as a process hands them to those that it starts on its host. */
export interface ClockOrigin {
  /** Steady time minus the monotonic time of the host, in milliseconds. */
  base: number;
  /** Steady time minus the time of day, in milliseconds. */
  aheadMs: number;
}

export interface SharedClockOptions {
  /** Clock of this host, for sleeps and for the time until the first synchronization. */
  host: Clock;
  /**
   * Returns milliseconds that never decrease, even if the host clock is set back, the same in all
   * processes of the host. Default: hostMonotonic().
   */
  monotonic?: () => number;
  /**
   * Origin of the process that started this one; null if that one did not know it. Absent in a
   * process that begins an installation's time on its host.
   */
  origin?: ClockOrigin | null | undefined;
  /** Reads the shared time of day, in milliseconds since the epoch. */
  readTime(): Promise<number>;
  record: ClockRecord;
  /** True if every process runs on this host, so that their monotonic clocks have the same rate. */
  isOneHost: boolean;
  log: Log;
}

/**
 * A clock whose time of day follows a shared engine's, and whose steady time ignores the
 * steps of every clock, so that processes on different hosts agree on leases.
 */
export interface SharedClock extends Clock {
  /** Reads the shared time and adjusts the clock to it. Rejects if it cannot be read. */
  synchronize(): Promise<void>;
  /**
   * Synchronizes every `intervalMs`, sooner after a failure, until the signal aborts. Never
   * rejects.
   */
  follow(intervalMs: number, signal: AbortSignal): Promise<void>;
  /**
   * Time of day of the host minus the shared clock's, in milliseconds; 0 before the first
   * reading.
   */
  skewMs(): number;
  /** For processes that this one starts. Null before the first synchronization. */
  origin(): ClockOrigin | null;
}

/** Monotonic time of the host at the start of this process's performance.now(). */
const monotonicStart = Number(process.hrtime.bigint()) / 1e6 - performance.now();

/** Returns the monotonic time of the host, in milliseconds. */
const hostMonotonic = () => performance.now() + monotonicStart;

/** Skew above which a warning is logged. */
const maxSkewMs = 1_000;
/** Delay after a failed synchronization. */
const retryMs = 1_000;
/** A reading with a longer round trip is too inaccurate. */
const maxRoundTripMs = 2_000;
/** Deviation of a reading from the progress of the monotonic clock that is drift, not a step. */
const maxDriftMs = 250;
/** Readings whose median is believed if the first one deviates by more. */
const readings = 3;
/** Smaller steps are logged at most once in such a time, in milliseconds. */
const minLoggedMs = 60_000;
/** Interval at which `reached` is written. */
const reachMs = 5_000;
/**
 * Range around `reached` in which a steady time agrees with the other processes. A process outside
 * of it has a clock of its own that ran wrong, and not the shared one.
 */
const agreement = { behindMs: 2_000, aheadMs: 2 * reachMs };
/**
 * Time within which a process that runs moves `reached`, and the interval at which it is read then.
 */
const living = { withinMs: reachMs + 1_000, everyMs: 100 };

/** A reading of the shared time of day. */
interface TimeSample {
  /** Time of day that was read, which has passed. */
  time: number;
  /** Time of day minus monotonic time, at the middle of the round trip. */
  offset: number;
  roundTripMs: number;
}

/**
 * Returns the state of the processes that run, if any. Without them, a time far beyond the one that
 * was reached is that during which no process ran; beside them, the clock has stepped.
 */
async function findOthers(
  { host, record }: SharedClockOptions,
  state: ClockState,
): Promise<ClockState | null> {
  for (let waitedMs = 0; waitedMs < living.withinMs; waitedMs += living.everyMs) {
    await host.sleep(living.everyMs);
    const next = await record.read();
    const isSame = next?.reached === state.reached && next.aheadMs === state.aheadMs;
    if (next !== null && !isSame) return next;
  }
  return null;
}

async function sampleTime(
  monotonic: () => number,
  readTime: () => Promise<number>,
): Promise<TimeSample> {
  const before = monotonic();
  const time = await readTime();
  const roundTripMs = monotonic() - before;
  return { time, offset: time - before - roundTripMs / 2, roundTripMs };
}

/** Creates a clock that shows the host's time until the first synchronization. */
export function createSharedClock(options: SharedClockOptions): SharedClock {
  const { host, readTime, record, isOneHost, log, monotonic = hostMonotonic, origin } = options;
  /** Steady time minus monotonic time. Null before the first synchronization. */
  let base = origin?.base ?? null;
  let aheadMs = origin?.aheadMs ?? 0;
  /** The processes of one host have one monotonic clock, and so one base for all their lives. */
  const keepsBase = isOneHost && origin !== null;
  let reached = 0;
  let isSkewed = false;
  let loggedAt = Number.NEGATIVE_INFINITY;

  // Whole milliseconds, as from the host clock.
  const steady = () => (base === null ? host.now() : Math.round(monotonic() + base));
  const now = () => (base === null ? host.now() : Math.round(monotonic() + base - aheadMs));
  const skewMs = () => (base === null ? 0 : host.now() - now());

  const deviationOf = ({ offset }: TimeSample, state: ClockState) =>
    base === null ? 0 : offset + state.aheadMs - base;
  const isDrift = (sample: TimeSample, state: ClockState) =>
    Math.abs(deviationOf(sample, state)) <= maxDriftMs + sample.roundTripMs / 2;

  /**
   * Returns a reading that is not odd: one that agrees with the monotonic clock, or the median of
   * three.
   */
  const readCarefully = async (): Promise<[TimeSample, ClockState]> => {
    const first = await sampleTime(monotonic, readTime);
    const state = await readState(first);
    if (base !== null && isDrift(first, state)) return [first, state];
    const all = [first];
    while (all.length < readings) all.push(await sampleTime(monotonic, readTime));
    all.sort((one, other) => one.offset - other.offset);
    return [all[(readings - 1) / 2]!, await readState(first)];
  };
  const readState = async ({ time }: TimeSample): Promise<ClockState> => {
    const stored = await record.read();
    if (stored !== null) return stored;
    // The offset of a first reading, whose round trip begins with the connection, can be seconds
    // ahead.
    await record.create({ aheadMs: 0, reached: Math.round(time) });
    return (await record.read()) ?? { aheadMs: 0, reached: 0 };
  };

  /** Keeps the steady time, and lets the time of day step. */
  const step = async (sample: TimeSample, state: ClockState, nextBase: number): Promise<void> => {
    const next = Math.round(nextBase - sample.offset);
    const isChanged = await record.change(state.aheadMs, next);
    const agreed = isChanged ? next : (await readState(sample)).aheadMs;
    const ms = state.aheadMs - next;
    // A clock at a wrong speed steps with each reading.
    if (isChanged && (Math.abs(ms) >= minLoggedMs || monotonic() - loggedAt >= minLoggedMs)) {
      loggedAt = monotonic();
      log.warn({ ms }, 'clock step detected');
    }
    base = keepsBase ? nextBase : sample.offset + agreed;
    aheadMs = keepsBase ? next : agreed;
  };

  const progressOf = ({ offset }: TimeSample, { aheadMs: ahead, reached: passed }: ClockState) =>
    monotonic() + offset + ahead - passed;

  const start = async (sample: TimeSample, found: ClockState): Promise<void> => {
    const isFarAhead = !isOneHost && progressOf(sample, found) > agreement.aheadMs;
    const otherState = isFarAhead ? await findOthers(options, found) : null;
    const state = otherState ?? found;
    const progress = progressOf(sample, state);
    const isStep =
      progress < -agreement.behindMs || (otherState !== null && progress > agreement.aheadMs);
    if (isStep) return step(sample, state, state.reached - monotonic());
    // The engine read its clock at an unknown moment within the round trip, so smaller differences
    // mean nothing: hosts whose clocks agree keep their time, however slow the first reading.
    const own = host.now() - monotonic();
    const isOwn = Math.abs(sample.offset - own) <= sample.roundTripMs / 2 + 1;
    base = (isOwn ? own : sample.offset) + state.aheadMs;
    aheadMs = state.aheadMs;
  };

  const adjust = async (sample: TimeSample, state: ClockState): Promise<void> => {
    if (isDrift(sample, state)) {
      const isNoise = Math.abs(deviationOf(sample, state)) <= sample.roundTripMs / 2 + 1;
      base = isNoise || isOneHost ? base : sample.offset + state.aheadMs;
      aheadMs = state.aheadMs;
      return;
    }
    const sinceReached = progressOf(sample, state);
    const othersAgree = sinceReached >= -agreement.behindMs && sinceReached <= agreement.aheadMs;
    const isDecided = state.aheadMs !== aheadMs;
    const isStep = keepsBase || (!isDecided && (isOneHost || !othersAgree));
    if (isStep) return step(sample, state, base!);
    base = sample.offset + state.aheadMs;
    aheadMs = state.aheadMs;
  };

  const synchronize = async () => {
    const [sample, state] = await readCarefully();
    if (base !== null && sample.roundTripMs > maxRoundTripMs) return;
    if (base === null) await start(sample, state);
    else await adjust(sample, state);
    if (steady() - Math.max(reached, state.reached) >= reachMs) {
      reached = steady();
      await record.reach(reached);
    }
    const wasSkewed = isSkewed;
    isSkewed = Math.abs(skewMs()) > maxSkewMs;
    if (isSkewed && !wasSkewed) log.warn({ skewMs: skewMs() }, 'clock skew detected');
    if (!isSkewed && wasSkewed) log.info({ skewMs: skewMs() }, 'clock skew resolved');
  };

  return {
    now,
    steady,
    sleep: host.sleep,
    skewMs,
    origin: () => (base === null ? null : { base, aheadMs }),
    synchronize,
    async follow(intervalMs, signal) {
      while (!signal.aborted) {
        let pauseMs = intervalMs;
        try {
          await synchronize();
        } catch (error) {
          log.debug({ error: Fault.from(error).message }, 'clock not synchronized');
          pauseMs = Math.min(retryMs, intervalMs);
        }
        await host.sleep(pauseMs, signal).catch(() => {});
      }
    },
  };
}
