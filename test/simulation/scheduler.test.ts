import { describe, expect, test } from 'vitest';
import { createScheduler } from './scheduler.ts';

const forever = () => false;

describe('createScheduler()', () => {
  test('runs tasks in order of time, and in order of scheduling for equal times', async () => {
    const scheduler = createScheduler(1_000);
    const ran: string[] = [];
    for (const [name, ms] of [
      ['late', 50],
      ['first', 10],
      ['second', 10],
      ['now', 0],
    ] as const)
      scheduler.after(ms, { owner: null, run: () => ran.push(`${name} ${scheduler.now()}`) });
    scheduler.after(10, { owner: null, run: () => ran.push('cancelled') }).cancel();
    await scheduler.run(2_000, forever);
    expect(ran).toEqual(['now 1000', 'first 1010', 'second 1010', 'late 1050']);
  });

  test('runs everything that awaits a task before the next task', async () => {
    const scheduler = createScheduler(0);
    const ran: string[] = [];
    void scheduler.sleep(5).then(async () => {
      ran.push('woken');
      await null;
      ran.push('still 5');
    });
    scheduler.after(5, { owner: null, run: () => ran.push('next') });
    await scheduler.run(10, forever);
    expect(ran).toEqual(['woken', 'still 5', 'next']);
  });

  test('delays tasks of a frozen owner, and runs only the orphaned callbacks of a dead one', async () => {
    const scheduler = createScheduler(0);
    const ran: string[] = [];
    const frozen = { alive: true, frozenUntil: 100 };
    const dead = { alive: false, frozenUntil: 0 };
    scheduler.after(1, { owner: frozen, run: () => ran.push(`frozen ${scheduler.now()}`) });
    scheduler.after(2, { owner: dead, run: () => ran.push('dead') });
    scheduler.after(3, {
      owner: dead,
      run: () => ran.push('dead'),
      orphaned: () => ran.push('orphaned'),
    });
    await scheduler.run(1_000, forever);
    expect(ran).toEqual(['orphaned', 'frozen 100']);
  });

  test('stops at its end time or once it is done', async () => {
    const scheduler = createScheduler(0);
    const ran: number[] = [];
    for (let ms = 1; ms <= 5; ms++) scheduler.after(ms, { owner: null, run: () => ran.push(ms) });
    await scheduler.run(10, () => ran.length === 2);
    expect(ran).toEqual([1, 2]);
    await scheduler.run(4, forever);
    expect(ran).toEqual([1, 2, 3, 4]);
  });
});
