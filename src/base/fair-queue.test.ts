import { describe, expect, test } from 'vitest';
import { createFairQueue, type FairQueue } from './fair-queue.ts';

/** Adds entries named by user, job and number: "a1.0" is the first of job 1 of user a. */
function add(line: FairQueue<string>, name: string, count: number): void {
  for (let number = 0; number < count; number += 1) {
    line.add(`${name}.${number}`, { userId: name[0]!, jobId: name });
  }
}

function takeAll(line: FairQueue<string>, isAllowed?: (userId: string) => boolean): string[] {
  const taken: string[] = [];
  for (let entry = line.take(isAllowed); entry !== undefined; entry = line.take(isAllowed)) taken.push(entry);
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

  test('serves a new user after one entry of each other user', () => {
    const line = createFairQueue<string>();
    for (let job = 1; job <= 9; job += 1) add(line, `a${job}`, 5);
    expect([line.take(), line.take()]).toEqual(['a1.0', 'a2.0']);
    add(line, 'b1', 1);
    expect([line.take(), line.take(), line.take()]).toEqual(['a3.0', 'b1.0', 'a4.0']);
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
