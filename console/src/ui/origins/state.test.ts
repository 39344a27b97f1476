import { expect, test } from 'vitest';
import { originState } from './totals.ts';

const idle = { pausedUntilMs: undefined, probing: false, minutes: [] };

test.each([
  [idle, 'unused'],
  [{ ...idle, minutes: [{ requests: 0 }] }, 'unused'],
  [{ ...idle, minutes: [{ requests: 2 }] }, 'ok'],
  [{ ...idle, pausedUntilMs: 2_000 }, 'paused'],
  [{ ...idle, pausedUntilMs: 1_000 }, 'ready'],
  [{ ...idle, pausedUntilMs: 500, probing: true }, 'trial'],
] as const)('originState() of %j is "%s"', (activity, expected) => {
  expect(originState(activity, 1_000)).toBe(expected);
});
