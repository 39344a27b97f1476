import { afterAll } from 'vitest';
import { openMongoStore } from '../../../src/store/mongo/open.ts';
import type { Store } from '../../../src/store/store.ts';
import { findMongo } from '../../engines/mongo.ts';

/** Store for tests within the process. Null if its engine is missing. */
interface TestStore {
  name: string;
  /** Opens an empty store. Undefined means SQLite in memory. */
  open: (() => Store | undefined) | null;
}

/**
 * Finds both stores, for `describe.each`. To be called by a test file, at whose end the engine is
 * stopped.
 */
export async function findStores(): Promise<readonly TestStore[]> {
  const mongo = await findMongo();
  afterAll(async () => {
    if (!('missing' in mongo)) await mongo.stop();
  });
  return [
    { name: 'SQLite', open: () => undefined },
    'missing' in mongo
      ? { name: `MongoDB (${mongo.missing})`, open: null }
      : { name: 'MongoDB', open: () => openMongoStore({ uri: mongo.fresh() }) },
  ];
}
