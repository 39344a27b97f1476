import { describe, expect, test } from 'vitest';
import { cronText, readCron, writeCron } from './cron.ts';

describe('cronText()', () => {
  test.each([
    ['0 8 * * *', 'Every day at 08:00'],
    ['5 * * * *', 'Every hour at minute 5'],
    ['30 18 * * 1-5', 'Monday to Friday at 18:30'],
    ['0 6 * * MON', 'Every Monday at 06:00'],
    ['15 7 * * 7', 'Every Sunday at 07:15'],
    ['0 6 * * FOO', '0 6 * * FOO'],
    ['0 * * * MON', '0 * * * MON'],
    ['0 6 1 * MON', '0 6 1 * MON'],
    ['0 24 * * *', '0 24 * * *'],
    ['60 * * * *', '60 * * * *'],
    ['0 6 * * 8', '0 6 * * 8'],
    ['*/5 * * * *', 'Every 5 minutes'],
    ['*/7 * * * *', '*/7 * * * *'],
    ['0 * * * 1-5', '0 * * * 1-5'],
  ])('describes %s as "%s"', (cron, expected) => expect(cronText(cron)).toBe(expected));
});

test.each(['0 8 * * *', '5 * * * *', '30 18 * * 1-5', '30 6 * * 2', '0 9 * * 0'])(
  'writeCron() returns %s again',
  (cron) => expect(writeCron(readCron(cron)!)).toBe(cron),
);
