import { createOperatorKey } from '../access/operator.ts';
import { systemClock } from '../base/clock.ts';
import type { Config } from '../base/config.ts';
import { openStore } from './stack.ts';

/** Creates a further operator key directly in the store, for example because all others are lost. */
export async function recoverOperatorKey(config: Config, name: string): Promise<string> {
  const store = await openStore(config);
  try {
    return await createOperatorKey(store, name, systemClock.now());
  } finally {
    await store.close();
  }
}
