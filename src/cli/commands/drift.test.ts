import { create } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { expect, test } from 'vitest';
import { FieldDriftSchema } from '../../../gen/gleaner/operator/v1/operator_pb.ts';
import { driftLines } from './drift.ts';

test('driftLines() formats an alarm with the command that shows its example', () => {
  const drift = create(FieldDriftSchema, {
    market: 'mkta',
    page: 'search',
    field: 'name',
    absentShare: 0.43,
    usualShare: 0.02,
    pages: 231,
    since: timestampFromMs(Date.UTC(2030, 0, 7)),
    exampleUnit: `{"keyword":"children's lamp"}`,
    exampleRegion: 'sg',
  });
  expect(driftLines(drift)).toEqual([
    'mkta search name: missing from 43% of the last 231 pages (baseline: 2%, since 2030-01-07T00:00:00.000Z)',
    String.raw`  gleaner page fetch mkta search '{"keyword":"children'\''s lamp"}' --region sg`,
  ]);
});

test('driftLines() formats a field without an alarm', () => {
  const drift = create(FieldDriftSchema, {
    market: 'mktf',
    page: 'search',
    field: 'id',
    pages: 12,
  });
  expect(driftLines(drift)).toEqual([
    'mktf search id: missing from 0% of the last 12 pages (no baseline yet)',
  ]);
  expect(driftLines({ ...drift, contradictedShare: 0.25 })).toEqual([
    'mktf search id: missing from 0% of the last 12 pages, contradicted on 25% of them (no baseline yet)',
  ]);
  expect(driftLines({ ...drift, pages: 0, usualShare: 0.5 })).toEqual([
    'mktf search id: no newer pages (baseline: 50%)',
  ]);
});
