import { create } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { expect, test } from 'vitest';
import { OriginSchema } from '../../../gen/gleaner/operator/v1/operator_pb.ts';
import { ScheduleSchema } from '../../../gen/gleaner/schedule/v1/schedule_pb.ts';
import { burnText, changedText, nextSchedule, summarizeOrigins } from './figures.ts';

const now = Date.UTC(2030, 0, 7);
const hour = 3_600_000;

test.each([
  [1_000n, [[100n, 0n]], 'about 100 a day recently, 10 days left at this rate'],
  [
    150n,
    [
      [300n, 100n],
      [0n, 0n],
    ],
    'about 100 a day recently, 1 day left at this rate',
  ],
  [1_000_000n, [[10n, 0n]], 'about 10 a day recently, over a year left at this rate'],
  [
    140n,
    [
      [2n, 0n],
      [1n, 0n],
    ],
    'about 2 a day recently, 93 days left at this rate',
  ],
  [
    10n,
    [
      [1n, 0n],
      [0n, 0n],
      [0n, 0n],
    ],
    'less than 1 a day recently, 30 days left at this rate',
  ],
  [
    600n,
    [
      [0n, 0n],
      [70n, 10n],
    ],
    'about 60 a day recently, 10 days left at this rate',
  ],
  [50n, [[100n, 100n]], 'None used recently'],
  [50n, [], 'None used recently'],
] as const)('a balance of %d is described with its use', (balance, days, text) => {
  expect(
    burnText(
      balance,
      days.map(([charged, refunded]) => ({ charged, refunded })),
    ),
  ).toBe(text);
});

test('counts the changes of the last 24 hours, and says if there may be more', () => {
  const items = [hour, 23 * hour, 25 * hour].map((ago) => ({
    firstAt: timestampFromMs(now - 26 * hour),
    changedAt: timestampFromMs(now - ago),
  }));
  expect(changedText(items, true, now)).toBe('2');
  expect(changedText(items.slice(0, 2), true, now)).toBe('2+');
  expect(changedText(items.slice(0, 2), false, now)).toBe('2');
  expect(changedText([], false, now)).toBe('0');
  const first = { firstAt: timestampFromMs(now - hour), changedAt: timestampFromMs(now - hour) };
  expect(changedText([items[0]!, first], false, now)).toBe('1');
  expect(changedText([first], true, now)).toBe('–');
});

test('finds the schedule that runs next', () => {
  const at = (name: string, ms?: number) =>
    create(ScheduleSchema, {
      name,
      ...(ms === undefined ? {} : { nextRunAt: timestampFromMs(ms) }),
    });
  expect(nextSchedule([at('paused'), at('late', now + 5), at('soon', now + 1)])?.name).toBe('soon');
  expect(nextSchedule([at('paused')])).toBeUndefined();
});

test('summarizes origins', () => {
  const minutes = [{ requests: 200, refused: 1, failed: 1, milliseconds: 5 }];
  const origins = [
    create(OriginSchema, { minutes }),
    create(OriginSchema, { pausedUntil: timestampFromMs(now + hour) }),
  ];
  expect(summarizeOrigins(origins, now)).toEqual({
    paused: 1,
    note: '1% of 200 requests failed or were blocked',
  });
  expect(summarizeOrigins([], now).note).toBe('No requests in the last hour');
});
