import { backOffMs } from '../base/back-off.ts';
import type { Blobs } from '../blobs/blobs.ts';
import { Fault } from '../contract/fault.ts';
import type { JobContext } from '../jobs/context.ts';
import { storageBackOff } from '../jobs/steps/batch-writer.ts';

/** Circuit breaker that keeps a process from fetching pages whose results it cannot store. */
export interface StorageBreaker {
  /** The result storage; its writes update the breaker. */
  readonly blobs: Blobs;
  /**
   * Runs work whose results are written to the storage. While the storage is unavailable, rejects
   * with `unavailable`, except for one trial after each back-off. A trial that writes nothing is
   * followed by another one.
   */
  during<T>(run: () => Promise<T>): Promise<T>;
}

/** Time during which a storage that responded counts as available. */
const freshMs = 2_000;
/** Maximum delay between two pings of a storage that does not respond: pings cost no page. */
const maxCheckMs = 30_000;
/** Time after which another batch tries, too. */
const trialMs = 60_000;

/** Creates a closed breaker. */
export function createStorageBreaker({
  blobs: storage,
  clock,
  log,
  random,
}: Pick<JobContext, 'blobs' | 'clock' | 'log' | 'random'>): StorageBreaker {
  let failures = 0;
  let openUntil = 0;
  /**
   * True if a write failed although the storage may respond to pings. Only a successful write
   * closes the breaker then.
   */
  let hasRefused = false;
  let isTrial = false;
  let answeredAt = Number.NEGATIVE_INFINITY;
  let checking: Promise<void> | null = null;

  const trip = (error: unknown, maxMs: number) => {
    failures += 1;
    isTrial = false;
    openUntil = clock.steady() + Math.min(backOffMs(storageBackOff, failures, random()), maxMs);
    if (failures === 1)
      log.warn({ error: Fault.from(error).message }, 'result storage unavailable');
  };
  const reset = () => {
    if (failures > 0) log.info('result storage available');
    failures = 0;
    hasRefused = false;
    isTrial = false;
    answeredAt = clock.steady();
  };
  const check = async () => {
    try {
      await storage.ping();
      if (hasRefused) answeredAt = clock.steady();
      else reset();
    } catch (error) {
      trip(error, maxCheckMs);
      throw error;
    } finally {
      checking = null;
    }
  };

  /**
   * Returns true if the caller is a trial, which then has begun. Rejects while work may not start.
   */
  const beginTrial = async (): Promise<boolean> => {
    if (failures === 0 && clock.steady() - answeredAt < freshMs) return false;
    if (failures > 0 && clock.steady() < openUntil) {
      throw new Fault('unavailable', 'The result storage does not answer.');
    }
    const isFirst = checking === null;
    checking ??= check();
    await checking;
    if (failures === 0) return false;
    // The storage responds to pings but writes failed: one batch tries, and the others wait for its
    // write, but not for a batch whose site is slow.
    if (!isFirst) throw new Fault('unavailable', 'The result storage is being tried.');
    isTrial = true;
    openUntil = clock.steady() + trialMs;
    return true;
  };

  return {
    blobs: {
      ...storage,
      async write(...parameters) {
        try {
          const file = await storage.write(...parameters);
          reset();
          return file;
        } catch (error) {
          // A fault caused by the data of a page, or by the store of the records, is not a failure
          // of the storage. Writes in progress when the breaker opened add no information.
          const { code, component } = Fault.from(error);
          const isAway = code === 'unavailable' && component !== 'store';
          if (isAway && (failures === 0 || isTrial)) {
            hasRefused = true;
            trip(error, storageBackOff.maxMs);
          }
          throw error;
        }
      },
    },

    async during(run) {
      if (!(await beginTrial())) return run();
      try {
        return await run();
      } finally {
        // The trial wrote nothing: another worker has the batch, or the batch waits for its site.
        if (isTrial) openUntil = clock.steady();
        isTrial = false;
      }
    },
  };
}
