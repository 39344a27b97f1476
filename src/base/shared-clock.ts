import { Fault } from '../contract/fault.ts';
import type { Clock } from './clock.ts';
import type { Log } from './log.ts';

/** Options for createSharedClock(). */
export interface SharedClockOptions {
  /** Clock of this host: sleeps, and the time until the first synchronization. */
  host: Clock;
  /** Milliseconds that only ever rise, whatever happens to the host's clock. */
  monotonic(): number;
  /** Reads the time that all processes share, in milliseconds since the epoch. */
  readTime(): Promise<number>;
  log: Log;
}

/** A clock that follows the time of a shared engine, so that processes of different hosts agree on leases. */
export interface SharedClock extends Clock {
  /** Reads the shared time once and follows it from there. Rejects when it cannot be read. */
  synchronize(): Promise<void>;
  /** Synchronizes every `intervalMs`, sooner while it fails, until the signal is aborted. Never rejects. */
  follow(intervalMs: number, signal: AbortSignal): Promise<void>;
  /** Host clock minus shared clock, in milliseconds; 0 before the first synchronization. */
  skewMs(): number;
}

/** A host clock further from the shared one is logged. */
const maxSkewMs = 1_000;
/** Pause after a synchronization that failed. */
const retryMs = 1_000;
/** A reading that took longer says too little about the moment it was made. */
const maxRoundTripMs = 2_000;

/**
 * Creates a clock that shows the host's time until it is synchronized, and the shared time from then on. Between
 * synchronizations it advances with the monotonic clock, so a jump of the host's clock does not change it.
 */
export function createSharedClock({ host, monotonic, readTime, log }: SharedClockOptions): SharedClock {
  /** Shared time minus monotonic time. */
  let offset: number | null = null;
  let isSkewed = false;

  // Whole milliseconds, as every host clock has them.
  const now = () => (offset === null ? host.now() : Math.round(monotonic() + offset));
  const skewMs = () => (offset === null ? 0 : host.now() - now());

  const synchronize = async () => {
    const before = monotonic();
    const time = await readTime();
    const roundTripMs = monotonic() - before;
    if (offset !== null && roundTripMs > maxRoundTripMs) return;
    const measured = time + roundTripMs / 2 - (before + roundTripMs);
    // The engine read its clock somewhere within the round trip: a smaller difference is none.
    if (offset === null || Math.abs(measured - offset) > roundTripMs / 2 + 1) offset = measured;
    const wasSkewed = isSkewed;
    isSkewed = Math.abs(skewMs()) > maxSkewMs;
    if (isSkewed && !wasSkewed) log.warn({ skewMs: skewMs() }, 'clock skew detected');
    if (!isSkewed && wasSkewed) log.info({ skewMs: skewMs() }, 'clock skew gone');
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
