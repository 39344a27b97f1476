import { describe, expect, test } from 'vitest';
import { createFairQueue, type FairQueue } from './fair-queue.ts';

/** Adds entries named by user, job and number: "a1.0" is the first of job 1 of user a. */
function add(line: FairQueue<string>, name: string, count: number, backlog = 0): void {
  for (let number = 0; number < count; number += 1) {
    line.add(`${name}.${number}`, { userId: name[0]!, jobId: name, backlog });
  }
}

function takeAll(line: FairQueue<string>, isAllowed?: (userId: string) => boolean): string[] {
  const taken: string[] = [];
  for (let entry = line.take(isAllowed); entry !== undefined; entry = line.take(isAllowed))
    taken.push(entry);
  return taken;
}

describe('createFairQueue()', () => {
  test('takes entries round-robin by user, and by job within a user', () => {
    const line = createFairQueue<string>();
    add(line, 'a1', 3);
    add(line, 'a2', 1);
    add(line, 'b1', 2);
    expect(line.size).toBe(6);
    expect(takeAll(line)).toEqual(['a1.0', 'b1.0', 'a2.0', 'b1.1', 'a1.1', 'a1.2']);
    expect(line.size).toBe(0);
  });

  test('takes the entries of a job in their order, and equal ones as they were added', () => {
    const line = createFairQueue<string>();
    const owner = { userId: 'a', jobId: 'a1' };
    for (const [entry, order] of [
      ['c', 2],
      ['a', 0],
      ['b', 1],
      ['d', 1],
    ] as const)
      line.add(entry, { ...owner, order });
    line.add('e', owner);
    expect(line.take()).toBe('a');
    line.remove('c', { ...owner, order: 2 });
    expect(line.entries()).toHaveLength(3);
    expect(takeAll(line)).toEqual(['e', 'b', 'd']);
    expect(line.size).toBe(0);
  });

  test('serves a new user after one entry of each other user', () => {
    const line = createFairQueue<string>();
    for (let job = 1; job <= 9; job += 1) add(line, `a${job}`, 5);
    expect([line.take(), line.take()]).toEqual(['a1.0', 'a2.0']);
    add(line, 'b1', 1);
    expect([line.take(), line.take(), line.take()]).toEqual(['a3.0', 'b1.0', 'a4.0']);
  });

  test('gives three of four turns to the user with the smaller backlog', () => {
    const line = createFairQueue<string>();
    add(line, 'a1', 400, 800);
    add(line, 'b1', 300, 8);
    const first = Array.from({ length: 8 }, () => line.take()![0]);
    expect(first).toEqual(['b', 'b', 'b', 'a', 'b', 'b', 'b', 'a']);
    for (let turn = 8; turn < 400; turn += 1) first.push(line.take()![0]);
    expect(first.filter((userId) => userId === 'a')).toHaveLength(100);
  });

  test('gives equal turns to users whose backlogs differ little', () => {
    const line = createFairQueue<string>();
    add(line, 'a1', 4, 5);
    add(line, 'b1', 4, 4);
    const users = takeAll(line).map((entry) => entry[0]);
    expect(users).toEqual(['a', 'b', 'a', 'b', 'a', 'b', 'a', 'b']);
  });

  test('leaves a large backlog nearly its equal share beside nine small ones', () => {
    const line = createFairQueue<string>();
    add(line, 'z1', 100, 1_000);
    for (const userId of 'abcdefghi') add(line, `${userId}1`, 100, 1);
    const taken = Array.from({ length: 200 }, () => line.take()!);
    expect(taken.filter((entry) => entry[0] === 'z').length).toBeGreaterThan(16);
  });

  test('skips users that are not allowed and keeps their place', () => {
    const line = createFairQueue<string>();
    add(line, 'a1', 2);
    add(line, 'b1', 2);
    expect(takeAll(line, (userId) => userId === 'b')).toEqual(['b1.0', 'b1.1']);
    expect(line.countOf('a')).toBe(2);
    expect(line.countOf('b')).toBe(0);
    expect(takeAll(line)).toEqual(['a1.0', 'a1.1']);
  });

  test('removes entries, and ignores entries that were taken', () => {
    const line = createFairQueue<string>();
    add(line, 'a1', 3);
    const owner = { userId: 'a', jobId: 'a1' };
    line.remove('a1.1', owner);
    expect(line.take()).toBe('a1.0');
    line.remove('a1.0', owner);
    expect(line.entries()).toEqual(['a1.2']);
    expect(line.size).toBe(1);
  });
});
