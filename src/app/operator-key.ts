import { createOperatorKey } from '../access/operator.ts';
import { systemClock } from '../base/clock.ts';
import type { Config } from '../base/config.ts';
import { lockData, requireData } from './data-folder.ts';
import { openStore } from './stack.ts';

/**
 * Creates another key of the first operator directly in the store, for use when all keys are lost. Throws a
 * ConfigError if there is no data or a service is using the data folder.
 */
export async function recoverOperatorKey(config: Config, name: string): Promise<string> {
  requireData(config);
  const release = await lockData(config);
  try {
    const store = await openStore(config);
    try {
      return await createOperatorKey(store, name, systemClock.now());
    } finally {
      await store.close();
    }
  } finally {
    release();
  }
}
