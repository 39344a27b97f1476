import { expect, test } from 'vitest';
import type { OriginMinute } from '../operations.ts';
import { aProcess, aTime } from './samples.ts';
import { type OpenStores, runConcurrently, setUpStores } from './stores.ts';

const aMinute = (fields: Partial<OriginMinute> = {}): OriginMinute => ({
  origin: 'https://shop.example:8443',
  market: 'mkta',
  region: 'sg',
  minute: aTime,
  requests: 5,
  refused: 2,
  failed: 1,
  milliseconds: 812.5,
  ...fields,
});

/** Operational data: processes, and requests to origins. */
export function operationsConformance(open: OpenStores): void {
  const stores = setUpStores(open);

  test('now() returns the time of the engine, the same for every process', async () => {
    const before = Date.now();
    const [time, other] = [await stores.store.time(), await stores.other.time()];
    // Engines return whole milliseconds, and some a cached clock.
    expect(time).toBeGreaterThan(before - 1_000);
    expect(other).toBeGreaterThanOrEqual(time);
    expect(other).toBeLessThan(Date.now() + 1_000);
  });

  test('a process shows its latest heartbeat until it is removed', async () => {
    const first = aProcess({ startedAt: aTime + 5 });
    const second = aProcess({ role: 'api' });
    await stores.store.putProcess(first);
    await stores.store.putProcess(second);
    expect(await stores.other.listProcesses(aTime)).toEqual([second, first]);
    const later = { ...first, seenAt: aTime + 10_000, batches: 0, unitsDone: 90 };
    await stores.other.putProcess(later);
    expect(await stores.store.listProcesses(aTime)).toEqual([second, later]);
    expect(await stores.store.listProcesses(aTime + 1)).toEqual([later]);
    await stores.store.deleteProcess(later.id);
    await stores.store.deleteProcess(later.id);
    expect(await stores.other.listProcesses(aTime)).toEqual([second]);
  });

  test('processes without a recent heartbeat expire', async () => {
    const [gone, here] = [aProcess({ seenAt: aTime - 2_000 }), aProcess({ seenAt: aTime - 1_000 })];
    for (const report of [gone, here]) await stores.store.putProcess(report);
    expect(await stores.store.expire({ processes: aTime - 1_000 })).toBe(1);
    const ids = (await stores.store.listProcesses(0)).map(({ id }) => id);
    expect(ids).toContain(here.id);
    expect(ids).not.toContain(gone.id);
  });

  test('requests to an origin are summed by minute, market, and region', async () => {
    await stores.store.addOriginMinutes([]);
    const other = aMinute({ region: 'th' });
    const next = aMinute({ minute: aTime + 60_000, refused: 0 });
    await stores.store.addOriginMinutes([next, aMinute(), other]);
    await stores.other.addOriginMinutes([aMinute({ requests: 0, refused: 1, failed: 0, milliseconds: 0 })]);
    await stores.store.addOriginMinutes([aMinute({ requests: 3, refused: 0, failed: 2, milliseconds: 100 })]);
    const sum = aMinute({ requests: 8, refused: 3, failed: 3, milliseconds: 912.5 });
    expect(await stores.other.listOriginMinutes(aTime)).toEqual([sum, other, next]);
    expect(await stores.store.listOriginMinutes(aTime + 1)).toEqual([next]);
  });

  test('concurrent counts of many processes are all added', async () => {
    const minute = aTime + 3_600_000;
    await runConcurrently(40, stores, (store) =>
      store.addOriginMinutes([aMinute({ minute, milliseconds: 2 })]),
    );
    const sum = aMinute({ minute, requests: 200, refused: 80, failed: 40, milliseconds: 80 });
    expect(await stores.store.listOriginMinutes(minute)).toEqual([sum]);
  });

  test('old minutes expire', async () => {
    const minute = aTime - 3_600_000;
    await stores.store.addOriginMinutes([aMinute({ minute }), aMinute({ minute: minute + 60_000 })]);
    expect(await stores.store.expire({ originMinutes: minute + 60_000 })).toBe(1);
    const minutes = (await stores.store.listOriginMinutes(0)).map((row) => row.minute);
    expect(minutes).not.toContain(minute);
    expect(minutes).toContain(minute + 60_000);
  });
}
