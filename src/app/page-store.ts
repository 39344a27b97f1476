import type { Config } from '../base/config.ts';
import { DataRefusedError } from '../base/data-refused-error.ts';
import { Fault } from '../contract/fault.ts';
import type { Store } from '../store/store.ts';
import { hasData } from './data-folder.ts';
import { openStore } from './stack.ts';

/**
 * Opens the store in which workers share request limits, so that a single request stays within them. Returns
 * a store in memory if there is none or it does not respond; `note` receives a warning in that case.
 */
export async function openPageStore(config: Config, note: (line: string) => void): Promise<Store> {
  if (hasData(config)) {
    const store = await openStore(config);
    try {
      await store.ping();
      return store;
    } catch (error) {
      await store.close();
      if (error instanceof DataRefusedError) throw error;
      note(
        `The store does not respond, so this request does not count toward the limits: ${Fault.from(error).message}`,
      );
    }
  }
  const { openSqliteStore } = await import('../store/sqlite/open.ts');
  return openSqliteStore({ path: ':memory:' });
}
