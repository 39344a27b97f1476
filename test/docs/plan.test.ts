import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { computePlan, formatPlan } from '../../bench/plan.ts';

test('docs/scaling.md has the needs of a billion items a day', () => {
  const page = readFileSync(new URL('../../docs/scaling.md', import.meta.url), 'utf8');
  const plan = formatPlan(1_000_000_000);
  for (const need of ['1,160', '40 cores', '5 shards', '3,300 messages/s', '2 TB'])
    expect([plan, page].map((text) => text.includes(need))).toEqual([true, true]);
});

test('the needs of a plan grow with its items, and those of origins with nothing else', () => {
  const [small, large] = [computePlan(10_000_000), computePlan(10_000_000_000)];
  expect(small).toMatchObject({ machines: 2, shards: 1 });
  expect(large.origins).toBe(Math.ceil(large.peakItems / 20));
  expect(large.commands / small.commands).toBeCloseTo(1_000);
});
