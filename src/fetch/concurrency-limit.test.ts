import { describe, expect, test } from 'vitest';
import { createManualClock, flushTasks } from '../../test/support/time/clock.ts';
import { createConcurrencyLimit, createUrgentTasks } from './concurrency-limit.ts';

test('grants its permits, then one for each release, in order', async () => {
  const limit = createConcurrencyLimit(2);
  const order: number[] = [];
  const [first, second] = await Promise.all([limit.acquire(), limit.acquire()]);
  const later = [3, 4].map(async (name) => {
    const release = await limit.acquire();
    order.push(name);
    return release;
  });
  expect(limit).toMatchObject({ inUse: 2, waiting: 2 });
  first();
  first();
  (await later[0]!)();
  await later[1];
  second();
  expect(order).toEqual([3, 4]);
  expect(limit).toMatchObject({ inUse: 1, waiting: 0 });
});

test('removes a caller that was aborted while waiting', async () => {
  const limit = createConcurrencyLimit(1);
  const release = await limit.acquire();
  const controller = new AbortController();
  const waiting = limit.acquire(controller.signal);
  controller.abort('stop');
  await expect(waiting).rejects.toBe('stop');
  await expect(limit.acquire(controller.signal)).rejects.toBe('stop');
  release();
  expect(limit).toMatchObject({ inUse: 0, waiting: 0 });
});

test('grants permits to waiting callers when enlarged, and keeps those in use when reduced', async () => {
  const limit = createConcurrencyLimit(0);
  const waiting = [limit.acquire(), limit.acquire(), limit.acquire()];
  limit.resize(2);
  const releases = await Promise.all(waiting.slice(0, 2));
  expect(limit).toMatchObject({ inUse: 2, waiting: 1 });
  limit.resize(1);
  releases[0]!();
  expect(limit).toMatchObject({ inUse: 1, waiting: 1 });
  releases[1]!();
  await waiting[2];
  expect(limit).toMatchObject({ inUse: 1, waiting: 0 });
});

test('rejectWaiting() rejects only waiting callers', async () => {
  const limit = createConcurrencyLimit(1);
  await limit.acquire();
  const waiting = limit.acquire(new AbortController().signal);
  limit.rejectWaiting('closed');
  await expect(waiting).rejects.toBe('closed');
  expect(limit).toMatchObject({ inUse: 1, waiting: 0 });
});

test('serves urgent callers first, except aborted ones', async () => {
  const limit = createConcurrencyLimit(1);
  const release = await limit.acquire();
  const order: string[] = [];
  const controller = new AbortController();
  const acquire = async (name: string, urgent: boolean, signal?: AbortSignal) => {
    const next = await limit.acquire(signal, { urgent });
    order.push(name);
    next();
  };
  const ordinary = acquire('ordinary', false);
  const gone = acquire('gone', true, controller.signal);
  const urgent = acquire('urgent', true);
  controller.abort('stop');
  await expect(gone).rejects.toBe('stop');
  expect(limit.waiting).toBe(2);
  release();
  await Promise.all([ordinary, urgent]);
  expect(order).toEqual(['urgent', 'ordinary']);
});

test('alternates between users, and between the jobs of a user', async () => {
  const limit = createConcurrencyLimit(0);
  const order: string[] = [];
  const acquire = async (userId: string, jobId: string) => {
    const release = await limit.acquire(undefined, { owner: { userId, jobId } });
    order.push(jobId);
    release();
  };
  const callers = ['a1', 'a1', 'a1', 'a2', 'b1', 'b1'];
  const acquiring = callers.map((jobId) => acquire(jobId[0]!, jobId));
  limit.resize(1);
  await Promise.all(acquiring);
  expect(order).toEqual(['a1', 'b1', 'a2', 'b1', 'a1', 'a1']);
});

describe('createConcurrencyLimit() with urgent work', () => {
  /**
   * Returns the number of permits that 100 waiting callers get while a task is in progress, and
   * after it.
   */
  async function granted(permits: number): Promise<[during: number, after: number]> {
    const work = createUrgentTasks(createManualClock(0));
    const limit = createConcurrencyLimit(permits, work);
    const end = work.begin();
    for (let caller = 0; caller < 100; caller += 1) void limit.acquire();
    const during = limit.inUse;
    end();
    await flushTasks();
    return [during, limit.inUse];
  }

  test('withholds permits from other callers until the task has ended', async () => {
    expect(await granted(16)).toEqual([4, 16]);
  });

  test('withholds at most 64 permits', async () => {
    expect(await granted(90)).toEqual([26, 90]);
  });

  test('withholds nothing from a limit of three permits', async () => {
    expect(await granted(3)).toEqual([3, 3]);
  });

  test('gives urgent callers the withheld permits', async () => {
    const work = createUrgentTasks(createManualClock(0));
    const limit = createConcurrencyLimit(6, work);
    const end = work.begin();
    for (let caller = 0; caller < 10; caller += 1) void limit.acquire();
    for (let caller = 0; caller < 2; caller += 1) await limit.acquire(undefined, { urgent: true });
    expect(limit.inUse).toBe(6);
    end();
  });
});

test('leaves permits to other users at a maximum per user', async () => {
  const limit = createConcurrencyLimit(4, undefined, 2);
  const acquire = (userId: string) =>
    limit.acquire(undefined, { owner: { userId, jobId: userId } });
  const [first] = await Promise.all([acquire('a'), acquire('a')]);
  let granted = false;
  const third = acquire('a').then((release) => {
    granted = true;
    return release;
  });
  const others = await Promise.all([acquire('b'), acquire('c')]);
  expect(limit).toMatchObject({ inUse: 4, waiting: 1 });
  others[0]!();
  await flushTasks();
  expect(granted).toBe(false);
  first();
  await third;
  expect(limit).toMatchObject({ inUse: 3, waiting: 0 });
});

describe('createUrgentTasks()', () => {
  test('is active until the last task has ended, and then calls each listener once', async () => {
    const work = createUrgentTasks(createManualClock(0));
    const calls: string[] = [];
    const [endFirst, endSecond] = [work.begin(), work.begin()];
    work.onceIdle(() => calls.push('idle'));
    endFirst();
    await flushTasks();
    expect(work.isActive).toBe(true);
    expect(calls).toEqual([]);
    endSecond();
    await flushTasks();
    expect(work.isActive).toBe(false);
    work.begin()();
    await flushTasks();
    expect(calls).toEqual(['idle']);
  });

  test('ends a task after 250 ms, and only once', async () => {
    const clock = createManualClock(0);
    const work = createUrgentTasks(clock);
    const end = work.begin();
    await clock.advance(249);
    expect(work.isActive).toBe(true);
    await clock.advance(1);
    expect(work.isActive).toBe(false);
    const endOther = work.begin();
    end();
    await flushTasks();
    expect(work.isActive).toBe(true);
    endOther();
    await flushTasks();
    expect(work.isActive).toBe(false);
  });
});
