import { expect, test } from 'vitest';
import { formatWorkingHours, isWithin, nextWithin, parseWorkingHours } from './working-hours.ts';

const at = (text: string) => Date.parse(text);

test('the default window opens at 08:00 and closes at 18:00 in GMT+8', () => {
  const hours = parseWorkingHours('08:00-18:00+08:00');
  expect(isWithin(hours, at('2026-03-01T23:59:59Z'))).toBe(false);
  expect(isWithin(hours, at('2026-03-02T00:00:00Z'))).toBe(true);
  expect(isWithin(hours, at('2026-03-02T09:59:59Z'))).toBe(true);
  expect(isWithin(hours, at('2026-03-02T10:00:00Z'))).toBe(false);
});

test('supports windows that cross midnight or lie west of Greenwich', () => {
  const hours = parseWorkingHours('22:00-06:00-03:00');
  expect(isWithin(hours, at('2026-03-02T01:00:00Z'))).toBe(true);
  expect(isWithin(hours, at('2026-03-02T08:59:00Z'))).toBe(true);
  expect(isWithin(hours, at('2026-03-02T09:00:00Z'))).toBe(false);
});

test.each([
  ['08:00-18:00+08:00', '2026-03-02T00:00:00Z', '2026-03-02T00:00:00Z'],
  ['08:00-18:00+08:00', '2026-03-02T09:59:00Z', '2026-03-02T09:59:00Z'],
  ['08:00-18:00+08:00', '2026-03-02T10:00:00Z', '2026-03-03T00:00:00Z'],
  ['08:00-18:00+08:00', '2026-03-01T23:59:59.999Z', '2026-03-02T00:00:00Z'],
  ['22:00-06:00-03:00', '2026-03-02T09:00:00Z', '2026-03-03T01:00:00Z'],
  ['22:00-06:00-03:00', '2026-03-03T00:59:00Z', '2026-03-03T01:00:00Z'],
])('nextWithin() of %s from %s is %s', (hours, now, next) => {
  expect(new Date(nextWithin(parseWorkingHours(hours), at(now)))).toEqual(new Date(next));
});

test.each(['08:00-18:00+08:00', '22:30-06:00-03:30', '00:00-24:00+00:00'])(
  'formatWorkingHours() formats %s',
  (text) => {
    expect(formatWorkingHours(parseWorkingHours(text))).toBe(text);
  },
);

test.each([
  '8-18',
  '08:00-08:00+08:00',
  '08:61-18:00+08:00',
  '08:00-25:00+08:00',
  '24:00-18:00+08:00',
  '30:00-18:00+08:00',
  '08:00-18:00',
  '',
])('parseWorkingHours() rejects %j', (text) => {
  expect(() => parseWorkingHours(text)).toThrow(/expected a window/);
});
