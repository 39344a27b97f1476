import { expect, test } from 'vitest';
import { createManualClock, flushTasks } from '../../test/support/time/clock.ts';
import { createAckExtender } from './ack-extender.ts';

test('createAckExtender() extends messages only while they wait', async () => {
  const clock = createManualClock(0);
  const hold = createAckExtender(clock, new AbortController().signal);
  const counts = [0, 0];
  const ends = counts.map(() => Promise.withResolvers<string>());
  const held = ends.map(({ promise }, index) =>
    hold.during(
      () => void counts[index]!++,
      () => promise,
    ),
  );
  await clock.advance(11_000);
  expect(counts).toEqual([2, 2]);
  ends[0]!.resolve('done');
  expect(await held[0]).toBe('done');
  await clock.advance(5_000);
  expect(counts).toEqual([2, 3]);
  ends[1]!.reject(new Error('broken'));
  await expect(held[1]).rejects.toThrow('broken');
  await clock.advance(5_000);
  await flushTasks();
  expect(clock.sleepers()).toBe(0);
  expect(counts).toEqual([2, 3]);
});
