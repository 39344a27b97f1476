import { expect, test } from 'vitest';
import { Fault } from '../contract/fault.ts';
import { redeliveryDelayMs } from './redelivery.ts';

test('redeliveryDelayMs() allows five deliveries with increasing delays', () => {
  const broken = new Error('broken');
  expect([1, 2, 3, 4, 5].map((deliveries) => redeliveryDelayMs(broken, deliveries))).toEqual([
    1_000,
    2_000,
    4_000,
    8_000,
    null,
  ]);
});

test('redeliveryDelayMs() retries without limit while an engine is unavailable', () => {
  const down = new Fault('unavailable', 'the store does not respond');
  expect(redeliveryDelayMs(down, 1)).toBe(1_000);
  expect(redeliveryDelayMs(down, 6)).toBe(30_000);
  expect(redeliveryDelayMs(down, 5_000)).toBe(30_000);
});
