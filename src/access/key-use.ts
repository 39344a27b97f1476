import { createBoundedMap } from '../base/bounded-map.ts';
import type { Clock } from '../base/clock.ts';
import type { Log } from '../base/log.ts';
import { Fault } from '../contract/fault.ts';
import type { ApiKey } from '../store/documents.ts';
import type { AccountStore } from '../store/store.ts';

/** What key use is kept with. */
export interface KeyUsageOptions {
  store: Pick<AccountStore, 'touchApiKey'>;
  clock: Clock;
  log: Log;
}

/** How exactly it is known when a key was last used. */
const keptEveryMs = 60_000;

/** Memory for keys; evicting one only means that its use is written more often. */
const maxBytes = 2 * 1024 * 1024;

/**
 * Makes what keeps when keys were last used: at most once a minute for each key, beside the call that used
 * it, which neither waits for it nor fails with it.
 */
export function createKeyUsage({ store, clock, log }: KeyUsageOptions): (key: ApiKey) => void {
  const kept = createBoundedMap<number>({ maxBytes, sizeOf: () => 8 });
  return ({ id, lastUsedAt }) => {
    const now = clock.now();
    // What another process kept is as good as our own.
    if (now - Math.max(kept.get(id) ?? 0, lastUsedAt ?? 0) < keptEveryMs) return;
    kept.set(id, now);
    setImmediate(() => {
      store.touchApiKey(id, now).catch((error) => {
        log.warn({ keyId: id, error: Fault.from(error).message }, 'use of a key not kept');
      });
    });
  };
}
