import { expect, test } from 'vitest';
import { linesOf, problemOf } from './body.ts';
import type { FieldShape } from './fields.ts';

const field = (part: Partial<FieldShape>): FieldShape => ({
  name: 'a',
  about: '',
  sort: 'text',
  required: false,
  choices: [],
  pattern: null,
  maxLength: null,
  least: null,
  most: null,
  fallback: '',
  ...part,
});

test.each([
  [{ required: true }, ' ', 'Must be given.'],
  [{}, '', null],
  [{ sort: 'choice', choices: ['id', 'sg'] }, 'xx', 'One of id, sg.'],
  [{ sort: 'integer' }, '1.5', 'A whole number.'],
  [{ sort: 'integer' }, '9007199254740993', 'A whole number.'],
  [{ sort: 'integer', least: 1 }, '0', 'At least 1.'],
  [{ sort: 'integer', most: 9 }, '10', 'At most 9.'],
  [{ sort: 'flag' }, 'yes', 'true or false.'],
  [{ pattern: /^[0-9]+$/ }, 'x', 'Must look like ^[0-9]+$'],
  [{ maxLength: 2 }, 'abc', 'At most 2 characters.'],
  [{ maxLength: 2, required: true }, 'ab', null],
] as const)('a field %j with %j: %s', (part, text, expected) => {
  expect(problemOf(field(part), text)).toBe(expected);
});

test('lines are trimmed, and empty ones dropped', () => {
  expect(linesOf(' a \r\n\n b')).toEqual(['a', 'b']);
});
