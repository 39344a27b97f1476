import { describe, expect, test } from 'vitest';
import { nextTime, nextTimes, problemOfCron, problemOfTimeZone } from './cron.ts';

const timesOf = (cron: string, timeZone: string, after: string, count: number) =>
  nextTimes({ cron, timeZone, startAt: null, endAt: null }, Date.parse(after), count).map((time) =>
    new Date(time).toISOString().replace(':00.000Z', 'Z'),
  );

describe('nextTimes()', () => {
  test('moves a time in the gap of a spring day to the end of the gap', () => {
    expect(timesOf('30 2 * * *', 'Europe/Berlin', '2026-03-28T12:00:00Z', 2)).toEqual([
      '2026-03-29T01:00Z',
      '2026-03-30T00:30Z',
    ]);
    expect(timesOf('30 2 * * *', 'America/New_York', '2026-03-07T12:00:00Z', 2)).toEqual([
      '2026-03-08T07:00Z',
      '2026-03-09T06:30Z',
    ]);
  });

  test('returns several times in the gap as one', () => {
    expect(timesOf('0,30 2 * * *', 'Europe/Berlin', '2026-03-28T12:00:00Z', 2)).toEqual([
      '2026-03-29T01:00Z',
      '2026-03-30T00:00Z',
    ]);
  });

  test('returns a time that occurs twice on an autumn day once', () => {
    expect(timesOf('30 2 * * *', 'Europe/Berlin', '2026-10-24T12:00:00Z', 2)).toEqual([
      '2026-10-25T00:30Z',
      '2026-10-26T01:30Z',
    ]);
    expect(timesOf('30 1 * * *', 'America/New_York', '2026-10-31T12:00:00Z', 2)).toEqual([
      '2026-11-01T05:30Z',
      '2026-11-02T06:30Z',
    ]);
  });

  test('keeps the distance of repeated times across both changes', () => {
    expect(timesOf('*/30 * * * *', 'Europe/Berlin', '2026-03-29T00:00:00Z', 3)).toEqual([
      '2026-03-29T00:30Z',
      '2026-03-29T01:00Z',
      '2026-03-29T01:30Z',
    ]);
    expect(timesOf('15 * * * *', 'America/New_York', '2026-11-01T04:30:00Z', 3)).toEqual([
      '2026-11-01T05:15Z',
      '2026-11-01T06:15Z',
      '2026-11-01T07:15Z',
    ]);
  });

  test('starts after the given time and ends with the last time', () => {
    expect(timesOf('0 0 29 2 *', 'UTC', '2026-01-01T00:00:00Z', 2)).toEqual([
      '2028-02-29T00:00Z',
      '2032-02-29T00:00Z',
    ]);
    const at = Date.parse('2026-01-05T08:00:00Z');
    const timing = { cron: '0 8 * * *', timeZone: 'UTC', startAt: at, endAt: at + 86_400_001 };
    expect(nextTimes(timing, 0, 5)).toEqual([at, at + 86_400_000]);
    expect(nextTime(timing, at)).toBe(at + 86_400_000);
    expect(nextTimes({ ...timing, endAt: at + 86_400_000 }, 0, 5)).toEqual([at]);
  });
});

describe('problemOfCron()', () => {
  test.each(['0 8 * * *', ' 0  8 * * MON-FRI ', '@daily', '0 0 L * *', '*/5 9-17 1,15 JAN 1#2'])(
    'accepts %j',
    (cron) => {
      expect(problemOfCron(cron)).toBeNull();
    },
  );

  test.each([
    '',
    '* * * *',
    '* * * * * *',
    '61 * * * *',
    '@every 1s',
    '0 0 ? * *',
    '2030-01-01T00:00:00',
  ])('refuses %j', (cron) => {
    expect(problemOfCron(cron)).toMatch(/^Input should be a cron expression of five fields/);
  });

  test.each([
    ['0 8 1 13 *', 'the month "13" should have values from 1 to 12, or JAN to DEC'],
    ['0 8 0 * *', 'the day of the month "0" should have values from 1 to 31, or L'],
    ['0 8 * * 9', 'the day of the week "9" should have values from 0 to 7, or SUN to SAT'],
    ['0 24 * * *', 'the hour "24" should have values from 0 to 23'],
    ['0,60 8 * 13 *', 'the minute "0,60" should have values from 0 to 59'],
  ])('names the field of %j as it is written', (cron, problem) => {
    expect(problemOfCron(cron)).toMatch(
      new RegExp(`, not "${cron.replaceAll('*', '\\*')}": ${problem}$`),
    );
  });

  test('refuses an expression without a time', () => {
    expect(problemOfCron('0 0 30 2 *')).toBe('"0 0 30 2 *" never occurs');
  });
});

describe('problemOfTimeZone()', () => {
  test('accepts names of the IANA database only', () => {
    expect(['UTC', 'Europe/Berlin', 'Asia/Singapore'].map(problemOfTimeZone)).toEqual([
      null,
      null,
      null,
    ]);
    expect(problemOfTimeZone('Mars/Olympus')).toContain('"Mars/Olympus"');
    expect(problemOfTimeZone('')).not.toBeNull();
  });
});
