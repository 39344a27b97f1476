import { expect, test } from 'vitest';
import { inputText } from './unit-members.ts';

test('inputText() returns a string field, and an empty string for anything else', () => {
  const unit = { key: '1', input: { text: 'a', number: 1 } };
  expect(['text', 'number', 'none'].map((name) => inputText(unit, name))).toEqual(['a', '', '']);
});
