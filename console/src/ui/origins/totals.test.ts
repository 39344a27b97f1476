import { create } from '@bufbuild/protobuf';
import { expect, test } from 'vitest';
import { OriginSchema } from '../../../../gen/gleaner/operator/v1/operator_pb.ts';
import { sortByUrgency, summarizeMinutes } from './totals.ts';

test('summarizeMinutes() weights the mean latency by requests', () => {
  const minutes = [
    { requests: 30, refused: 3, failed: 0, milliseconds: 100 },
    { requests: 10, refused: 1, failed: 2, milliseconds: 300 },
  ];
  expect(summarizeMinutes(minutes)).toEqual({
    requests: 40,
    refusedShare: 0.1,
    failedShare: 0.05,
    milliseconds: 150,
  });
});

test('summarizeMinutes() returns zeros without requests', () => {
  expect(summarizeMinutes([])).toEqual({
    requests: 0,
    refusedShare: 0,
    failedShare: 0,
    milliseconds: 0,
  });
});

test('sortByUrgency() puts paused origins first, then the busiest, then sorts by name', () => {
  const origins = [
    { origin: 'quiet' },
    { origin: 'busy', minutes: [{ requests: 9 }] },
    { origin: 'also quiet' },
    { origin: 'refusing', pausedUntil: { seconds: 1n } },
  ].map((init) => create(OriginSchema, init));
  expect(sortByUrgency(origins).map(({ origin }) => origin)).toEqual([
    'refusing',
    'busy',
    'also quiet',
    'quiet',
  ]);
});
