import { describe, expect, test } from 'vitest';
import { createBodyBudget } from './body-budget.ts';

const open = () => new AbortController().signal;

/** Starts a reservation and records when it is granted. */
function createQueue() {
  const budget = createBodyBudget({ totalBytes: 10, userBytes: 6 });
  const served: string[] = [];
  const reserve = (name: string, bytes: number, signal = open()) => {
    const reserved = budget.reserve(name.charAt(0), bytes, signal);
    reserved.then(
      () => served.push(name),
      () => served.push(`${name} aborted`),
    );
    return reserved;
  };
  return { reserve, served };
}

const settle = () => new Promise((resolve) => setImmediate(resolve));

describe('createBodyBudget()', () => {
  test('delays bodies above the total until earlier ones are released', async () => {
    const { reserve, served } = createQueue();
    const release = await reserve('a', 6);
    const late = reserve('b', 5);
    await settle();
    expect(served).toEqual(['a']);
    release();
    release();
    await late;
    expect(served).toEqual(['a', 'b']);
  });

  test('lets other users overtake a user at their limit', async () => {
    const { reserve, served } = createQueue();
    const release = await reserve('a1', 5);
    void reserve('a2', 5);
    await reserve('b1', 5);
    expect(served).toEqual(['a1', 'b1']);
    release();
    await settle();
    expect(served).toEqual(['a1', 'b1', 'a2']);
  });

  test('admits a body larger than the limits if nothing else is held', async () => {
    const { reserve, served } = createQueue();
    const release = await reserve('a', 50);
    void reserve('b', 1);
    await settle();
    expect(served).toEqual(['a']);
    release();
    await settle();
    expect(served).toEqual(['a', 'b']);
  });

  test('removes an aborted waiter', async () => {
    const { reserve, served } = createQueue();
    const release = await reserve('a', 6);
    const leaving = new AbortController();
    const left = reserve('b', 5, leaving.signal);
    void reserve('c', 5);
    leaving.abort(new Error('gone'));
    await expect(left).rejects.toThrow('gone');
    release();
    await settle();
    expect(served).toEqual(['a', 'b aborted', 'c']);
  });
});
