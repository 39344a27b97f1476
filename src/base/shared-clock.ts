import { Fault } from '../contract/fault.ts';
import type { Clock } from './clock.ts';
import type { Log } from './log.ts';

export interface SharedClockOptions {
  /** Clock of this host, for sleeps and for the time until the first synchronization. */
  host: Clock;
  /** Returns milliseconds that never decrease, even if the host clock is set back. */
  monotonic(): number;
  /** Reads the shared time, in milliseconds since the epoch. */
  readTime(): Promise<number>;
  log: Log;
}

/** A clock that follows the time of a shared engine, so that processes on different hosts agree on leases. */
export interface SharedClock extends Clock {
  /** Reads the shared time and adjusts the clock to it. Rejects if it cannot be read. */
  synchronize(): Promise<void>;
  /** Synchronizes every `intervalMs`, sooner after a failure, until the signal aborts. Never rejects. */
  follow(intervalMs: number, signal: AbortSignal): Promise<void>;
  /** Host clock minus shared clock, in milliseconds; 0 before the first synchronization. */
  skewMs(): number;
}

/** Skew above which a warning is logged. */
const maxSkewMs = 1_000;
/** Delay after a failed synchronization. */
const retryMs = 1_000;
/** A reading with a longer round trip is too inaccurate. */
const maxRoundTripMs = 2_000;

/**
 * Creates a clock that shows the host's time until the first synchronization, and the shared time from then
 * on. Between synchronizations it advances with the monotonic clock, so a jump of the host's clock does not
 * affect it.
 */
export function createSharedClock({ host, monotonic, readTime, log }: SharedClockOptions): SharedClock {
  /** Shared time minus monotonic time. */
  let offset: number | null = null;
  let isSkewed = false;

  // Whole milliseconds, as from the host clock.
  const now = () => (offset === null ? host.now() : Math.round(monotonic() + offset));
  const skewMs = () => (offset === null ? 0 : host.now() - now());

  const synchronize = async () => {
    const before = monotonic();
    const time = await readTime();
    const roundTripMs = monotonic() - before;
    if (offset !== null && roundTripMs > maxRoundTripMs) return;
    const measured = time + roundTripMs / 2 - (before + roundTripMs);
    // The engine read its clock at an unknown moment within the round trip, so smaller differences mean
    // nothing: hosts whose clocks agree keep their time, however slow the first reading.
    const present = offset ?? host.now() - monotonic();
    offset = Math.abs(measured - present) > roundTripMs / 2 + 1 ? measured : present;
    const wasSkewed = isSkewed;
    isSkewed = Math.abs(skewMs()) > maxSkewMs;
    if (isSkewed && !wasSkewed) log.warn({ skewMs: skewMs() }, 'clock skew detected');
    if (!isSkewed && wasSkewed) log.info({ skewMs: skewMs() }, 'clock skew resolved');
  };

  return {
    now,
    sleep: host.sleep,
    skewMs,
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
