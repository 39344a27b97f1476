import { expect, test } from 'vitest';
import { type OpenStores, setUpStores } from './stores.ts';

/** Registers the tests of the schema version. */
export function schemaConformance(open: OpenStores): void {
  const stores = setUpStores(open);

  test('the schema of new data has a version, which every process sees', async () => {
    const [version, other] = await Promise.all([stores.store.schemaVersion(), stores.other.schemaVersion()]);
    expect(version).toBeGreaterThan(0);
    expect(other).toBe(version);
  });
}
