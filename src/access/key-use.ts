import { createBoundedMap } from '../base/bounded-map.ts';
import type { Clock } from '../base/clock.ts';
import type { Log } from '../base/log.ts';
import { Fault } from '../contract/fault.ts';
import type { ApiKey } from '../store/documents.ts';
import type { AccountStore } from '../store/store.ts';

/** Options for createKeyUsage(). */
export interface KeyUsageOptions {
  store: Pick<AccountStore, 'touchApiKey'>;
  clock: Clock;
  log: Log;
}

/** Minimum interval between two writes of a key's last use, in milliseconds. */
const writeIntervalMs = 60_000;

/** Memory for keys, in bytes. An evicted key only causes an additional write. */
const maxBytes = 2 * 1024 * 1024;

/**
 * Creates a function that records when a key was used: at most once a minute per key, in the background. It neither
 * delays nor fails the call that used the key.
 */
export function createKeyUsage({ store, clock, log }: KeyUsageOptions): (key: ApiKey) => void {
  const written = createBoundedMap<number>({ maxBytes, sizeOf: () => 8 });
  return ({ id, lastUsedAt }) => {
    const now = clock.now();
    // Another process may have written a later time.
    if (now - Math.max(written.get(id) ?? 0, lastUsedAt ?? 0) < writeIntervalMs) return;
    written.set(id, now);
    setImmediate(() => {
      store.touchApiKey(id, now).catch((error) => {
        log.warn({ keyId: id, error: Fault.from(error).message }, 'use of a key not written');
      });
    });
  };
}
