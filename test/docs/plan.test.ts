import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { computePlan, formatPlan } from '../../bench/plan.ts';

test('docs/scaling.md has the plan for a billion items a day', () => {
  const page = readFileSync(new URL('../../docs/scaling.md', import.meta.url), 'utf8');
  expect(page).toContain(formatPlan(1_000_000_000));
});

test('the needs of a plan grow with its items, and those of origins with nothing else', () => {
  const [small, large] = [computePlan(10_000_000), computePlan(10_000_000_000)];
  expect(small).toMatchObject({ machines: 2, shards: 1 });
  expect(large.origins).toBe(Math.ceil(large.peakItems / 20));
  expect(large.commands / small.commands).toBeCloseTo(1_000);
});
