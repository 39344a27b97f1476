import { expect, test } from 'vitest';
import { initialTab } from './tabs.ts';

const job = { status: 'completed', ended: true, success: 9, failed: 0, notRun: 0 };

test.each([
  ['user', {}, 'results'],
  ['user', { failed: 1 }, 'results'],
  ['user', { status: 'processing', ended: false, success: 0 }, 'results'],
  ['user', { status: 'failed', success: 0, failed: 9 }, 'failures'],
  ['user', { status: 'rejected', success: 0, failed: 9, notRun: 9 }, 'units'],
  ['user', { status: 'terminated', success: 0, failed: 9, notRun: 9 }, 'units'],
  ['user', { status: 'awaiting_approval', ended: false, success: 0 }, 'units'],
  ['operator', { status: 'awaiting_approval', ended: false, success: 0 }, 'units'],
  ['operator', { failed: 1 }, 'failures'],
  ['operator', {}, 'batches'],
] as const)('initialTab() for a %s and a job with %j is "%s"', (role, part, expected) => {
  expect(initialTab({ ...job, ...part }, role)).toBe(expected);
});
