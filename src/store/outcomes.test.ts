import { expect, test } from 'vitest';
import type { Outcome } from './documents.ts';
import { addOutcomes, countOutcomes, endOutstanding } from './outcomes.ts';

const good: Outcome = { status: 'SUCCESS', attempt: 1 };
const bad: Outcome = { status: 'FAILED', code: 'network', message: 'gone' };
const body = Buffer.from('{}');

test('only units without an outcome get one, and a payload with a result', () => {
  const write = {
    outcomes: { 0: bad, 1: good, 2: bad },
    payloads: [0, 1, 2, 3].map((index) => ({ index, body })),
  };
  expect(addOutcomes('b', 4, { 0: good }, write)).toEqual({
    fresh: { 1: good, 2: bad },
    payloads: [{ index: 1, body }],
    success: 2,
    failed: 1,
  });
});

test('an end needs an outcome for every unit', () => {
  const end = { file: null, at: 5 };
  expect(() => addOutcomes('b', 3, { 0: good }, { outcomes: { 1: bad }, payloads: [], end })).toThrow(
    /1 units are/,
  );
  expect(addOutcomes('b', 2, { 0: good }, { outcomes: { 1: bad }, payloads: [], end })).toMatchObject({
    failed: 1,
  });
});

test.each([-1, 2, 1.5])('there is no unit %d in a batch of two', (index) => {
  const write = { outcomes: { [index]: good }, payloads: [] };
  expect(() => addOutcomes('b', 2, {}, write)).toThrow(/batch b has no unit/);
});

test('ending a batch leaves outcomes as they are', () => {
  const ended = endOutstanding(3, { 1: good }, bad);
  expect(ended).toEqual({ 0: bad, 1: good, 2: bad });
  expect(countOutcomes(ended)).toEqual({ success: 1, failed: 2 });
});
