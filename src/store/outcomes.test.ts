import { expect, test } from 'vitest';
import type { Outcome, Part } from './documents.ts';
import { addOutcomes, countOutcomes, failOutstanding } from './outcomes.ts';

const good: Outcome = { status: 'SUCCESS', attempt: 1 };
const bad: Outcome = { status: 'FAILED', code: 'network', message: 'gone' };

const partOf = (path: string, ...indexes: number[]): Part => ({
  path,
  bytes: 7,
  encoding: 'plain',
  records: Object.fromEntries(indexes.map((index) => [index, [index, 1]])),
  body: null,
});

const earlier = partOf('j/earlier', 0);
const known = { total: 4, outcomes: { 0: good }, parts: [earlier] };

test('sets outcomes only for units without one, and a record only with a success', () => {
  const outcomes = { 0: bad, 1: good, 2: bad };
  expect(addOutcomes('b', known, { outcomes, part: partOf('j/p', 0, 1, 2, 3) })).toEqual({
    fresh: { 1: good, 2: bad },
    parts: [earlier, partOf('j/p', 1)],
    success: 2,
    failed: 1,
    storedBytes: 14,
  });
});

test('ignores a part without a new record', () => {
  const write = { outcomes: { 0: good, 1: bad }, part: partOf('j/p', 0) };
  expect(addOutcomes('b', known, write).parts).toEqual([earlier]);
});

test('replaces all parts with that of the write that ends the batch', () => {
  const part = partOf('j/p', 0, 1);
  const end = { file: null, at: 5 };
  const batch = { total: 2, outcomes: { 0: good, 1: good }, parts: [earlier] };
  expect(addOutcomes('b', batch, { outcomes: {}, part, end }).parts).toEqual([part]);
  expect(addOutcomes('b', batch, { outcomes: {}, part: null, end }).parts).toEqual([earlier]);
});

test('requires an outcome for every unit to end a batch', () => {
  const write = { outcomes: { 1: bad }, part: null, end: { file: null, at: 5 } };
  expect(() => addOutcomes('b', { ...known, total: 3 }, write)).toThrow(/1 outstanding units/);
  expect(addOutcomes('b', { ...known, total: 2 }, write)).toMatchObject({ failed: 1 });
});

test.each([-1, 2, 1.5])('rejects unit %d of a batch of two', (index) => {
  const write = { outcomes: { [index]: good }, part: null };
  expect(() => addOutcomes('b', { total: 2, outcomes: {}, parts: [] }, write)).toThrow(/batch b has no unit/);
});

test('keeps outcomes when it ends a batch', () => {
  const ended = failOutstanding(3, { 1: good }, bad);
  expect(ended).toEqual({ 0: bad, 1: good, 2: bad });
  expect(countOutcomes(ended)).toEqual({ success: 1, failed: 2 });
});
