import { create } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { expect, test } from 'vitest';
import { OriginSchema } from '../../gen/gleaner/operator/v1/operator_pb.ts';
import { sortByUrgency } from './origins.ts';

test('sortByUrgency() puts paused origins first, then those with the most requests', () => {
  const origins = [
    { region: 'idle' },
    { region: 'busy', minutes: [{ requests: 3 }, { requests: 4 }] },
    { region: 'paused', pausedUntil: timestampFromMs(1) },
    { region: 'slow', minutes: [{ requests: 5 }] },
  ].map((origin) => create(OriginSchema, origin));
  const regions = sortByUrgency(origins).map(({ region }) => region);
  expect(regions).toEqual(['paused', 'busy', 'slow', 'idle']);
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
