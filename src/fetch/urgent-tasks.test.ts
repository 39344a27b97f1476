import { describe, expect, test } from 'vitest';
import { createManualClock, flushTasks } from '../../test/support/time/clock.ts';
import { createUrgentTasks } from './urgent-tasks.ts';

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
