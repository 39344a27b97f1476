import { expect, test } from 'vitest';
import { createLanes } from './lanes.ts';

test('a receiver gets four messages at once, and others do not wait for it', () => {
  const lanes = createLanes();
  expect([1, 2, 3, 4].map(() => lanes.enter('slow', 0))).toEqual([0, 0, 0, 0]);
  expect(lanes.enter('slow', 0)).toBeGreaterThan(0);
  expect(lanes.enter('other', 0)).toBe(0);
  expect(lanes.running()).toBe(5);
  lanes.leave('slow', 10, 10, true);
  expect(lanes.enter('slow', 10)).toBe(0);
});

test('one that fails gets one at a time until a message gets through', () => {
  const lanes = createLanes();
  lanes.enter('down', 0);
  lanes.leave('down', 10_000, 10_000, false);
  expect(lanes.enter('down', 10_000)).toBe(0);
  expect(lanes.enter('down', 10_000)).toBe(10_000);
  lanes.leave('down', 20_000, 20, true);
  expect([1, 2, 3, 4].map(() => lanes.enter('down', 20_000))).toEqual([0, 0, 0, 0]);
});

test('those who wait are told to come one after the other, none later than in ten minutes', () => {
  const lanes = createLanes();
  lanes.enter('down', 0);
  lanes.leave('down', 10_000, 10_000, false);
  lanes.enter('down', 10_000);
  const waits = Array.from({ length: 100 }, () => lanes.enter('down', 10_000));
  expect(waits.slice(0, 3)).toEqual([10_000, 20_000, 30_000]);
  expect(Math.max(...waits)).toBe(600_000);
});
