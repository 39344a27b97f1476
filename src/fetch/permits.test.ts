import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createManualClock, flushTasks, type ManualClock } from '../../test/support/clock.ts';
import { Fault } from '../contract/fault.ts';
import { openSqliteStore } from '../store/sqlite/open.ts';
import type { Store } from '../store/store.ts';
import { createPermits, type Permits, permitLeaseMs } from './permits.ts';

const origin = 'https://origin.example';
let store: Store;
let clock: ManualClock;
let leases: number;
let away: boolean;

beforeEach(() => {
  store = openSqliteStore({ path: ':memory:' });
  clock = createManualClock(1_000_000);
  leases = 0;
  away = false;
});

afterEach(() => store.close());

/** Lets everything begin before time goes on. */
async function pass(ms: number): Promise<void> {
  await flushTasks();
  await clock.advance(ms);
}

/** One process with the permits. */
function process(
  holder: string,
  limit = 4,
): Permits & { inside: number; most: number; work(ms: number): void } {
  const permits = createPermits({
    origin,
    holder,
    limit,
    lease: async (...request) => {
      leases += 1;
      if (away) throw new Fault('unavailable', 'the store is away');
      return store.leasePermits(...request);
    },
    learn: () => {},
    clock,
  });
  const worker = {
    get busy() {
      return permits.busy;
    },
    enter: permits.enter,
    close: permits.close,
    inside: 0,
    most: 0,
    /** One request that takes this long. */
    work: (ms: number) => {
      void permits.enter().then(async (leave) => {
        worker.inside += 1;
        worker.most = Math.max(worker.most, worker.inside);
        await clock.sleep(ms);
        worker.inside -= 1;
        leave();
      });
    },
  };
  return worker;
}

const held = async () => {
  const request = { holder: 'onlooker', busy: 0, wanted: 0, limit: 1_000, until: clock.now() + 1 };
  const { permits } = await store.leasePermits(origin, { ...request, wanted: 1_000, now: clock.now() });
  await store.leasePermits(origin, { ...request, now: clock.now() });
  return 1_000 - permits;
};

describe('one process', () => {
  test('sends as many requests at once as there are permits', async () => {
    const worker = process('a');
    for (let request = 0; request < 20; request += 1) worker.work(1_000);
    await pass(10_000);
    expect(worker.most).toBe(4);
    expect(worker.busy).toBe(0);
  });

  test('asks the store by time, not by request', async () => {
    const worker = process('a');
    for (let request = 0; request < 2_000; request += 1) worker.work(40);
    await pass(20_000);
    expect(worker.busy).toBe(0);
    expect(leases).toBeLessThan(16);
  });

  test('gives back what it no longer uses', async () => {
    const worker = process('a');
    worker.work(100);
    await flushTasks();
    expect(await held()).toBe(1);
    await pass(5_000);
    expect(await held()).toBe(0);
    expect(clock.sleepers()).toBe(0);
  });

  test('gives all back when it ends, and sends nothing more', async () => {
    const worker = process('a');
    worker.work(100);
    await flushTasks();
    const leave = await worker.enter();
    await pass(200);
    expect(await held()).toBe(2);
    await worker.close();
    expect(await held()).toBe(1);
    leave();
    await expect(worker.enter()).rejects.toMatchObject({ code: 'unavailable' });
    await pass(3_000);
    expect(await held()).toBe(0);
    expect(clock.sleepers()).toBe(0);
  });

  test('rejects who waits when the store is away, and begins nothing once the lease has ended', async () => {
    const worker = process('a', 1);
    const leave = await worker.enter();
    const waiting = worker.enter();
    away = true;
    const rejected = expect(waiting).rejects.toMatchObject({ code: 'unavailable' });
    await pass(2_000);
    await rejected;
    leave();
    await pass(4_000);
    const entering = worker.enter();
    const refused = expect(entering).rejects.toMatchObject({ code: 'unavailable' });
    await pass(500);
    await refused;
    away = false;
    const later = worker.enter();
    await pass(2_000);
    (await later)();
  });

  test('forgets a request that is given up', async () => {
    const worker = process('a', 1);
    await worker.enter();
    const controller = new AbortController();
    const waiting = worker.enter(controller.signal);
    controller.abort('stop');
    await expect(waiting).rejects.toBe('stop');
    expect(worker.busy).toBe(1);
  });
});

describe('several processes', () => {
  test('send no more at once than one may', async () => {
    const workers = ['a', 'b', 'c'].map((name) => process(name));
    let most = 0;
    for (const worker of workers) for (let request = 0; request < 60; request += 1) worker.work(200);
    for (let step = 0; step < 300; step += 1) {
      await pass(100);
      most = Math.max(
        most,
        workers.reduce((sum, { inside }) => sum + inside, 0),
      );
    }
    expect(most).toBe(4);
    expect(workers.map(({ busy }) => busy)).toEqual([0, 0, 0]);
    for (const worker of workers) expect(worker.most).toBeGreaterThan(0);
  });

  test('come to have their share within seconds', async () => {
    const [first, second] = [process('a'), process('b')];
    for (let request = 0; request < 200; request += 1) first!.work(100);
    await pass(1_000);
    for (let request = 0; request < 200; request += 1) second!.work(100);
    await pass(2_500);
    expect([first!.inside, second!.inside]).toEqual([2, 2]);
  });

  test('get what one held that died, once its lease has ended', async () => {
    const [now, limit] = [clock.now(), 4];
    const until = now + permitLeaseMs;
    await store.leasePermits(origin, { holder: 'dead', busy: 0, wanted: limit, limit, now, until });
    const worker = process('b');
    worker.work(100);
    await pass(permitLeaseMs - 1);
    expect(worker.inside).toBe(0);
    await pass(1_000);
    expect(worker.most).toBe(1);
  });

  test('with fewer permits than processes have their turns', async () => {
    const workers = ['a', 'b', 'c', 'd', 'e'].map((name) => process(name, 2));
    for (const worker of workers) for (let request = 0; request < 1_000; request += 1) worker.work(200);
    let most = 0;
    for (let step = 0; step < 400; step += 1) {
      await pass(100);
      most = Math.max(
        most,
        workers.reduce((sum, { inside }) => sum + inside, 0),
      );
    }
    expect(most).toBe(2);
    for (const worker of workers) expect(worker.most).toBeGreaterThan(0);
  });
});
