import { create } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { expect, test } from 'vitest';
import { ObservationSchema } from '../../../gen/gleaner/history/v1/history_pb.ts';
import { pointsOf } from './series.ts';

const observation = (at: number, values: { price?: number; currency?: string; stock?: bigint }) =>
  create(ObservationSchema, { observedAt: timestampFromMs(at), values });

test('pointsOf() returns no prices in other currencies than the newest', () => {
  const newestFirst = [
    observation(4_000, { price: 8, currency: 'EUR' }),
    observation(3_000, { price: 9, currency: 'EUR' }),
    observation(2_000, { price: 150_000, currency: 'IDR' }),
    observation(1_000, { price: 10 }),
  ];
  expect(pointsOf(newestFirst, 'price', 4_000)).toEqual([
    { at: 3_000, value: 9 },
    { at: 4_000, value: 8 },
  ]);
});

test('pointsOf() returns known values, oldest first, up to now', () => {
  const newestFirst = [
    observation(3_000, { price: 8, stock: 2n }),
    observation(2_000, { stock: 5n }),
    observation(1_000, { price: 10 }),
  ];
  expect(pointsOf(newestFirst, 'price', 4_000)).toEqual([
    { at: 1_000, value: 10 },
    { at: 3_000, value: 8 },
    { at: 4_000, value: 8 },
  ]);
  expect(pointsOf(newestFirst, 'stock', 3_000)).toEqual([
    { at: 2_000, value: 5 },
    { at: 3_000, value: 2 },
  ]);
  expect(pointsOf(newestFirst, 'sold', 4_000)).toEqual([]);
});
