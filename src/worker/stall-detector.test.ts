import { expect, test } from 'vitest';
import { createStallDetector, type StallCheck } from './stall-detector.ts';

/** Returns the number of the check at which the process is stalled, or null. */
function stalledAt(checks: readonly StallCheck[]): number | null {
  const isStalled = createStallDetector();
  const at = checks.findIndex(isStalled);
  return at < 0 ? null : at;
}

const checks = (count: number, check: (index: number) => StallCheck) =>
  Array.from({ length: count }, (_, index) => check(index));

test('a process that runs without a beat is stalled after five checks', () => {
  expect(stalledAt(checks(20, (index) => ({ beats: 7, cpuMs: 1_000 * index })))).toBe(5);
});

test('a process that gets a third of a processor is stalled after 3 s of it', () => {
  expect(stalledAt(checks(20, (index) => ({ beats: 7, cpuMs: 333 * index + index })))).toBe(9);
});

test.each([
  ['has beats', checks(99, (index) => ({ beats: Math.floor(index / 4), cpuMs: 1_000 * index }))],
  ['is frozen', checks(99, () => ({ beats: 7, cpuMs: 9_000 }))],
  ['waits for the system', checks(99, (index) => ({ beats: 7, cpuMs: 10 * index }))],
  [
    'continues after it was frozen',
    checks(20, (index) => ({ beats: index < 10 ? 7 : index, cpuMs: 200 * index })),
  ],
])('a process that %s is not stalled', (_name, given) => {
  expect(stalledAt(given)).toBeNull();
});
