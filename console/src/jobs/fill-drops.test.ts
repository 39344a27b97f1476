import { create } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { expect, test } from 'vitest';
import { JobSchema } from '../../../gen/gleaner/job/v1/job_pb.ts';
import { fillDrops, lacksPrices, lastRun } from './fill-drops.ts';

const field = (name: string, filled: number, records = 100) => ({
  name,
  records: BigInt(records),
  filled: BigInt(filled),
  percent: records === 0 ? 0 : (filled / records) * 100,
});

test('fillDrops() finds fields that are filled less often, the largest drop first', () => {
  const before = [
    field('title', 100),
    field('price', 100),
    field('stock', 60),
    field('rating', 50),
  ];
  const now = [
    field('title', 90),
    field('stock', 40),
    field('price', 0),
    field('rating', 0, 0),
    field('x', 0),
  ];
  expect(fillDrops(now, before)).toEqual([
    { name: 'price', percent: 0, before: 100 },
    { name: 'stock', percent: 40, before: 60 },
  ]);
});

test('fillDrops() leaves out a field that one or two records lack, but not one that all lack', () => {
  const before = [field('price', 4, 4), field('title', 4, 4), field('stock', 9, 9)];
  const now = [field('price', 2, 3), field('title', 0, 3), field('stock', 6, 9)];
  expect(fillDrops(now, before).map(({ name }) => name)).toEqual(['title', 'stock']);
});

test('lacksPrices() is true if no field of prices has a value', () => {
  expect(lacksPrices([field('price.amount', 0), field('title', 9)])).toBe(true);
  expect(lacksPrices([field('price.amount', 0), field('price_range', 1)])).toBe(false);
  expect(lacksPrices([field('price.amount', 0, 0)])).toBe(false);
  expect(lacksPrices([field('title', 0)])).toBe(false);
});

test('lastRun() finds the last run of the same schedule, series, name, or list', () => {
  const job = (jobId: string, at: number, fields = {}) =>
    create(JobSchema, {
      jobId,
      market: 'mkta',
      kind: 'variant_sold',
      ended: true,
      success: 1,
      createdAt: timestampFromMs(at),
      ...fields,
    });
  const jobs = [
    job('later', 9),
    job('now', 8, { region: 'sg' }),
    job('other region', 7, { region: 'id' }),
    job('other list', 7, { region: 'sg', total: 3 }),
    job('failed', 6, { region: 'sg', success: 0 }),
    job('before', 5, { region: 'sg' }),
    job('tracked', 4, { options: { track: 'nightly' } }),
    job('planned', 3, { scheduleId: 'a' }),
  ];
  expect(lastRun(jobs[1]!, jobs)?.jobId).toBe('before');
  expect(lastRun(job('next', 8, { options: { track: 'nightly' } }), jobs)?.jobId).toBe('tracked');
  expect(lastRun(job('next', 8, { scheduleId: 'a' }), jobs)?.jobId).toBe('planned');
  expect(lastRun(job('next', 8, { options: { name: 'x' } }), jobs)).toBeUndefined();
});
