import { expect, test } from 'vitest';
import { settled, standingClock } from '../../test/support/clock.ts';
import { createMessageHold } from './hold.ts';

test('createMessageHold() extends messages while they wait, and no longer', async () => {
  const clock = standingClock(0);
  const hold = createMessageHold(clock, new AbortController().signal);
  const counts = [0, 0];
  const ends = counts.map(() => Promise.withResolvers<string>());
  const held = ends.map(({ promise }, index) =>
    hold.during(
      () => void counts[index]!++,
      () => promise,
    ),
  );
  await clock.pass(11_000);
  expect(counts).toEqual([2, 2]);
  ends[0]!.resolve('done');
  expect(await held[0]).toBe('done');
  await clock.pass(5_000);
  expect(counts).toEqual([2, 3]);
  ends[1]!.reject(new Error('broken'));
  await expect(held[1]).rejects.toThrow('broken');
  await clock.pass(5_000);
  await settled();
  expect(clock.sleeping()).toBe(0);
  expect(counts).toEqual([2, 3]);
});
