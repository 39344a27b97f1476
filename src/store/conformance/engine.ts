import { expect, test } from 'vitest';
import { type OpenStores, setUpStores } from './stores.ts';

/** The engine: version of the schema, and time. */
export function engineConformance(open: OpenStores): void {
  const stores = setUpStores(open);

  test('the schema of new data has a version, which every process sees', async () => {
    const [version, other] = await Promise.all([stores.store.schemaVersion(), stores.other.schemaVersion()]);
    expect(version).toBeGreaterThan(0);
    expect(other).toBe(version);
  });

  test('time() returns the time of the engine, the same for every process', async () => {
    const before = Date.now();
    const [time, other] = [await stores.store.time(), await stores.other.time()];
    // Engines return whole milliseconds, and some a cached clock.
    expect(time).toBeGreaterThan(before - 1_000);
    expect(other).toBeGreaterThanOrEqual(time);
    expect(other).toBeLessThan(Date.now() + 1_000);
  });
}
