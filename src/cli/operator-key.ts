import { createOperatorKey } from '../access/operator.ts';
import { systemClock } from '../base/clock.ts';
import type { Config } from '../base/config.ts';
import { openStore } from './stack.ts';

/** Makes a further operator key by way of the store itself: for when the key shown at first is lost. */
export async function recoverOperatorKey(config: Config): Promise<string> {
  const store = await openStore(config);
  try {
    return await createOperatorKey(store, systemClock.now());
  } finally {
    await store.close();
  }
}
