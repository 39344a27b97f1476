import { expect, test } from 'vitest';
import type { Outcome, Segment } from './batches.ts';
import { addOutcomes, countOutcomes, failOutstanding } from './outcomes.ts';

const good: Outcome = { status: 'SUCCESS', attempt: 1, readAt: 0 };
const bad: Outcome = { status: 'FAILED', code: 'network', message: 'gone' };

const segmentOf = (path: string, ...indexes: number[]): Segment => ({
  path,
  bytes: 7,
  sha256: '0a',
  encoding: 'plain',
  records: Object.fromEntries(indexes.map((index) => [index, [index, 1, 0]])),
  body: null,
});

const earlier = segmentOf('j/earlier', 0);
const known = { total: 4, outcomes: { 0: good }, segments: [earlier] };

test('sets outcomes only for units without one, and a record only with a success', () => {
  const outcomes = { 0: bad, 1: good, 2: bad };
  expect(addOutcomes('b', known, { outcomes, segment: segmentOf('j/p', 0, 1, 2, 3) })).toEqual({
    fresh: { 1: good, 2: bad },
    segments: [earlier, segmentOf('j/p', 1)],
    success: 2,
    failed: 1,
    storedBytes: 14,
  });
});

test('ignores a segment without a new record', () => {
  const write = { outcomes: { 0: good, 1: bad }, segment: segmentOf('j/p', 0) };
  expect(addOutcomes('b', known, write).segments).toEqual([earlier]);
});

test('replaces all segments with that of the write that ends the batch', () => {
  const segment = segmentOf('j/p', 0, 1);
  const end = { file: null, at: 5 };
  const batch = { total: 2, outcomes: { 0: good, 1: good }, segments: [earlier] };
  expect(addOutcomes('b', batch, { outcomes: {}, segment, end }).segments).toEqual([segment]);
  expect(addOutcomes('b', batch, { outcomes: {}, segment: null, end }).segments).toEqual([earlier]);
});

test('requires an outcome for every unit to end a batch', () => {
  const write = { outcomes: { 1: bad }, segment: null, end: { file: null, at: 5 } };
  expect(() => addOutcomes('b', { ...known, total: 3 }, write)).toThrow(/1 outstanding units/);
  expect(addOutcomes('b', { ...known, total: 2 }, write)).toMatchObject({ failed: 1 });
});

test.each([-1, 2, 1.5])('rejects unit %d of a batch of two', (index) => {
  const write = { outcomes: { [index]: good }, segment: null };
  expect(() => addOutcomes('b', { total: 2, outcomes: {}, segments: [] }, write)).toThrow(
    /batch b has no unit/,
  );
});

test('keeps outcomes when it ends a batch', () => {
  const ended = failOutstanding(3, { 1: good }, bad);
  expect(ended).toEqual({ 0: bad, 1: good, 2: bad });
  expect(countOutcomes(ended)).toEqual({ success: 1, failed: 2 });
});
