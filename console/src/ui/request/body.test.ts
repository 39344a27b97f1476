import { expect, test } from 'vitest';
import { lackingLabels, validateField } from './body.ts';
import type { FieldShape } from './fields.ts';

const field = (part: Partial<FieldShape>): FieldShape => ({
  name: 'a',
  label: 'A',
  help: '',
  columns: [],
  type: 'text',
  required: false,
  choices: [],
  pattern: null,
  maxLength: null,
  min: null,
  max: null,
  defaultText: '',
  ...part,
});

test.each([
  [{ required: true }, ' ', 'Required'],
  [{}, '', null],
  [{ type: 'choice', choices: ['id', 'sg'] }, 'xx', '"xx" is not one of id, sg'],
  [{ type: 'integer' }, '1.5', 'Must be a whole number'],
  [{ type: 'integer' }, '9007199254740993', 'Must be a whole number'],
  [{ type: 'integer', min: 1 }, '0', 'Must be at least 1'],
  [{ type: 'integer', max: 9 }, '10', 'Must be at most 9'],
  [{ type: 'flag' }, 'yes', 'Must be true or false'],
  [{ pattern: /^(a|b)+$/ }, 'x', 'Must match ^(a|b)+$'],
  [{ pattern: /^[0-9]+$/ }, 'x', 'Must be digits'],
  [
    { pattern: /^([1-9][0-9]{0,5}(s|m|h|d))?$/ },
    'x',
    'Must be a number with s, m, h, or d, such as 6h',
  ],
  [{ pattern: /^[A-Za-z0-9]{10}$/ }, 'x', 'Must be 10 letters and digits'],
  [
    { pattern: /^[a-z0-9-]{0,50}$/ },
    'X',
    'Must be at most 50 lowercase letters, digits, and hyphens',
  ],
  [{ maxLength: 2 }, 'abc', 'Must have at most 2 characters'],
  [{ maxLength: 2, required: true }, 'ab', null],
] as const)('validateField(%j, %j) returns %j', (part, text, expected) => {
  expect(validateField(field(part), text)).toBe(expected);
});

test('lackingLabels() names the fields to fill in', () => {
  const fields = [
    field({ required: true, label: 'Country' }),
    field({ name: 'b', required: true }),
  ];
  expect(lackingLabels(fields, { a: ' ', b: 'x' })).toEqual(['Country']);
});
