import { expect, test } from 'vitest';
import { createPendingCalls, LostCallError } from './pending-calls.ts';

const never = () => new Promise<never>(() => {});

test('track() returns the result of a call that ends in time', async () => {
  const calls = createPendingCalls('MongoDB', { maxMs: 60_000, endMs: 1 });
  expect(await calls.track(Promise.resolve('result'))).toBe('result');
  await expect(calls.track(Promise.reject(new Error('refused')))).rejects.toThrow('refused');
});

test('a call that does not end is lost after its limit', async () => {
  const calls = createPendingCalls('MongoDB', { maxMs: 1, endMs: 60_000 });
  await expect(calls.track(never())).rejects.toThrow(LostCallError);
});

test('hurry() limits the calls in progress, and no later ones', async () => {
  const calls = createPendingCalls('MongoDB', { maxMs: 60_000, endMs: 1 });
  const lost = calls.track(never());
  calls.hurry();
  const later = Promise.withResolvers<string>();
  const tracked = calls.track(later.promise);
  await expect(lost).rejects.toMatchObject({
    code: 'unavailable',
    message: 'MongoDB does not answer: a command did not end',
  });
  later.resolve('result');
  expect(await tracked).toBe('result');
});
