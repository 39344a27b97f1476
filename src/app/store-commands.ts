import { createOperatorKey } from '../access/operator.ts';
import { systemClock } from '../base/clock.ts';
import type { Config } from '../base/config.ts';
import { type Audit, audit } from '../jobs/queries/audit.ts';
import { lockData, openExistingStore, requireData } from './data-folder.ts';
import { openStore } from './stack.ts';

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
