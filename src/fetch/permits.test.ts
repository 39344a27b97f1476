import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createManualClock, flushTasks, type ManualClock } from '../../test/support/time/clock.ts';
import { Fault } from '../contract/fault.ts';
import { openSqliteStore } from '../store/sqlite/open.ts';
import type { Store } from '../store/store.ts';
import { Permits, permitLeaseMs } from './permits.ts';

const origin = 'https://origin.example';
let store: Store;
let clock: ManualClock;
let leases: number;
let isUnavailable: boolean;

beforeEach(() => {
  store = openSqliteStore({ path: ':memory:' });
  clock = createManualClock(1_000_000);
  leases = 0;
  isUnavailable = false;
});

afterEach(() => store.close());

/** Flushes pending tasks, then advances the clock. */
async function pass(ms: number): Promise<void> {
  await flushTasks();
  await clock.advance(ms);
}

/** Creates the permits of one process. */
function process(
  holder: string,
  limit = 4,
): Omit<Permits, never> & { inUse: number; peak: number; work(ms: number): void } {
  const permits = new Permits({
    origin,
    holder,
    limit,
    lease: async (...request) => {
      leases += 1;
      if (isUnavailable) throw new Fault('unavailable', 'the store is unavailable');
      return store.origins.lease(...request);
    },
    onPauseRead: () => {},
    clock,
  });
  const worker: ReturnType<typeof process> = {
    get demand() {
      return permits.demand;
    },
    get isIdle() {
      return permits.isIdle;
    },
    get isAlone() {
      return permits.isAlone;
    },
    acquire: (...options) => permits.acquire(...options),
    close: () => permits.close(),
    inUse: 0,
    peak: 0,
    /** Sends one request of this duration. */
    work: (ms: number) => {
      void permits.acquire().then(async (release) => {
        worker.inUse += 1;
        worker.peak = Math.max(worker.peak, worker.inUse);
        await clock.sleep(ms);
        worker.inUse -= 1;
        release();
      });
    },
  };
  return worker;
}

const held = async () => {
  const request = {
    holder: 'observer',
    busy: 0,
    requested: 0,
    limit: 1_000,
    until: clock.now() + 1,
  };
  const { permits } = await store.origins.lease(origin, {
    ...request,
    requested: 1_000,
    now: clock.now(),
  });
  await store.origins.lease(origin, { ...request, now: clock.now() });
  return 1_000 - permits;
};

describe('the permits of one process', () => {
  test('allow at most as many concurrent requests as the limit', async () => {
    const worker = process('a');
    for (let request = 0; request < 20; request += 1) worker.work(1_000);
    await pass(10_000);
    expect(worker.peak).toBe(4);
    expect(worker.demand).toBe(0);
  });

  test('are renewed at intervals, not per request', async () => {
    const worker = process('a');
    for (let request = 0; request < 2_000; request += 1) worker.work(40);
    await pass(20_000);
    expect(worker.demand).toBe(0);
    expect(leases).toBeLessThan(16);
  });

  test('of all origins are renewed at the same moments', async () => {
    const times = new Set<number>();
    const permitsOf = (name: string) =>
      new Permits({
        origin: `https://${name}.example`,
        holder: 'a',
        limit: 4,
        lease: (...request) => {
          times.add(clock.steady());
          return store.origins.lease(...request);
        },
        onPauseRead: () => {},
        clock,
      });
    const origins = ['one', 'other', 'third'].map(permitsOf);
    for (const permits of origins) {
      await permits.acquire();
      await pass(130);
    }
    // The intervals double until they have their full length.
    await pass(8_000);
    times.clear();
    await pass(20_000);
    expect(times.size).toBe(10);
    await Promise.all(origins.map((permits) => permits.close()));
  });

  test('are released when no longer used', async () => {
    const worker = process('a');
    worker.work(100);
    await flushTasks();
    expect(await held()).toBe(1);
    await pass(5_000);
    expect(await held()).toBe(0);
    expect(clock.sleepers()).toBe(0);
  });

  test('are released by close(), and no more are granted', async () => {
    const worker = process('a');
    worker.work(100);
    await flushTasks();
    const release = await worker.acquire();
    await pass(200);
    expect(await held()).toBe(2);
    await worker.close();
    expect(await held()).toBe(1);
    release();
    await expect(worker.acquire()).rejects.toMatchObject({ code: 'unavailable' });
    await pass(3_000);
    expect(await held()).toBe(0);
    expect(clock.sleepers()).toBe(0);
  });

  test('are not granted while the store is unavailable, nor after the lease has expired', async () => {
    const worker = process('a', 1);
    const release = await worker.acquire();
    const waiting = worker.acquire();
    isUnavailable = true;
    const rejected = expect(waiting).rejects.toMatchObject({ code: 'unavailable' });
    await pass(2_000);
    await rejected;
    release();
    await pass(4_000);
    const acquiring = worker.acquire();
    const refused = expect(acquiring).rejects.toMatchObject({ code: 'unavailable' });
    await pass(500);
    await refused;
    isUnavailable = false;
    const later = worker.acquire();
    await pass(2_000);
    (await later)();
  });

  test('are not needed for a request that was aborted while waiting', async () => {
    const worker = process('a', 1);
    await worker.acquire();
    const controller = new AbortController();
    const waiting = worker.acquire(controller.signal);
    controller.abort('stop');
    await expect(waiting).rejects.toBe('stop');
    expect(worker.demand).toBe(1);
  });
});

describe('several processes', () => {
  test('send together at most as many concurrent requests as the limit', async () => {
    const workers = ['a', 'b', 'c'].map((name) => process(name));
    let peak = 0;
    for (const worker of workers)
      for (let request = 0; request < 60; request += 1) worker.work(200);
    for (let step = 0; step < 300; step += 1) {
      await pass(100);
      peak = Math.max(
        peak,
        workers.reduce((sum, { inUse }) => sum + inUse, 0),
      );
    }
    expect(peak).toBe(4);
    expect(workers.map(({ demand }) => demand)).toEqual([0, 0, 0]);
    for (const worker of workers) expect(worker.peak).toBeGreaterThan(0);
  });

  test('get equal shares within seconds', async () => {
    const [first, second] = [process('a'), process('b')];
    for (let request = 0; request < 200; request += 1) first!.work(100);
    await pass(1_000);
    for (let request = 0; request < 200; request += 1) second!.work(100);
    await pass(2_500);
    expect([first!.inUse, second!.inUse]).toEqual([2, 2]);
  });

  test('get equal shares within a second when they start together', async () => {
    const [first, second] = [process('a'), process('b')];
    for (const worker of [first, second]) {
      for (let request = 0; request < 200; request += 1) worker.work(50);
      await flushTasks();
    }
    expect(second.inUse).toBe(0);
    await pass(1_000);
    expect([first.inUse, second.inUse]).toEqual([2, 2]);
  });

  test('get the permits of a process that died once its lease has expired', async () => {
    const [now, limit] = [clock.now(), 4];
    const until = now + permitLeaseMs;
    await store.origins.lease(origin, {
      holder: 'dead',
      busy: 0,
      requested: limit,
      limit,
      now,
      until,
    });
    const worker = process('b');
    worker.work(100);
    await pass(permitLeaseMs - 1);
    expect(worker.inUse).toBe(0);
    await pass(1_000);
    expect(worker.peak).toBe(1);
  });

  test('alternate if there are fewer permits than processes', async () => {
    const workers = ['a', 'b', 'c', 'd', 'e'].map((name) => process(name, 2));
    for (const worker of workers)
      for (let request = 0; request < 1_000; request += 1) worker.work(200);
    let peak = 0;
    for (let step = 0; step < 400; step += 1) {
      await pass(100);
      peak = Math.max(
        peak,
        workers.reduce((sum, { inUse }) => sum + inUse, 0),
      );
    }
    expect(peak).toBe(2);
    for (const worker of workers) expect(worker.peak).toBeGreaterThan(0);
  });
});
