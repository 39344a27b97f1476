import { create } from '@bufbuild/protobuf';
import { expect, test } from 'vitest';
import { OriginSchema } from '../../../gen/gleaner/operator/v1/operator_pb.ts';
import { byNeed, totalsOf } from './totals.ts';

test('minutes are summed, and the mean time is weighed by requests', () => {
  const minutes = [
    { requests: 30, refused: 3, failed: 0, milliseconds: 100 },
    { requests: 10, refused: 1, failed: 2, milliseconds: 300 },
  ];
  expect(totalsOf(minutes)).toEqual({
    requests: 40,
    refusedShare: 0.1,
    failedShare: 0.05,
    milliseconds: 150,
  });
});

test('without requests everything is 0', () => {
  expect(totalsOf([])).toEqual({ requests: 0, refusedShare: 0, failedShare: 0, milliseconds: 0 });
});

test('origins that are left alone come first, then those asked most, then by name', () => {
  const origins = [
    { origin: 'quiet' },
    { origin: 'busy', minutes: [{ requests: 9 }] },
    { origin: 'also quiet' },
    { origin: 'refusing', pausedUntil: { seconds: 1n } },
  ].map((init) => create(OriginSchema, init));
  expect(byNeed(origins).map(({ origin }) => origin)).toEqual(['refusing', 'busy', 'also quiet', 'quiet']);
});
