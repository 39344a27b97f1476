import { expect, test } from 'vitest';
import { originOnly } from './redact.ts';

test.each([
  ['https://hooks.example.test/a-token', 'https://hooks.example.test/…'],
  ['https://hooks.example.test/?token=1', 'https://hooks.example.test/…'],
  ['http://user:secret@localhost:8000', 'http://localhost:8000/'],
  ['ftp://hooks.example.test/', 'redacted'],
  ['a token', 'redacted'],
])('originOnly() shows %j as %j', (address, expected) => {
  expect(originOnly(address)).toBe(expected);
});
