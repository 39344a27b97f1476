import { type Clock, systemClock } from '../base/clock.ts';
import type { Config } from '../base/config.ts';
import { Fault } from '../contract/fault.ts';
import { lockData, requireData } from './data-folder.ts';
import { openStore } from './stack.ts';

/** Time between attempts while another process migrates or the store does not respond, in milliseconds. */
const retryMs = 1_000;

/** Options for migrateStore(). */
export interface MigrateStoreOptions {
  /** Maximum wait for a store that does not respond, in milliseconds. */
  waitMs: number;
  clock?: Clock;
}

/**
 * Migrates the store to this program's schema. Returns the name of the engine and the version. Throws a
 * ConfigError if there is no data or a service uses the data folder, a NewerDataError if a newer program
 * wrote the data, and fault `unavailable` if the store does not respond in time.
 */
export async function migrateStore(
  config: Config,
  { waitMs, clock = systemClock }: MigrateStoreOptions,
): Promise<{ engine: string; version: number }> {
  requireData(config);
  const release = await lockData(config);
  try {
    const store = await openStore(config);
    try {
      const until = clock.now() + waitMs;
      for (;;) {
        try {
          return { engine: store.engine, version: await store.schemaVersion() };
        } catch (error) {
          if (Fault.from(error).code !== 'unavailable' || clock.now() >= until) throw error;
          await clock.sleep(retryMs);
        }
      }
    } finally {
      await store.close();
    }
  } finally {
    release();
  }
}
