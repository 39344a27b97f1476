import type { Config } from '../base/config.ts';
import { type Audit, audit } from '../jobs/queries/audit.ts';
import { openExistingStore } from './data-folder.ts';

export type { Audit };

/** Audits the store, also while a service uses it. Throws a ConfigError if there is no data. */
export async function runAudit(config: Config): Promise<Audit> {
  const store = await openExistingStore(config);
  try {
    return await audit(store);
  } finally {
    await store.close();
  }
}
