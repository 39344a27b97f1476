import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { describe, expect, test } from 'vitest';
import { QuoteSchema } from '../../../gen/gleaner/job/v1/quote_pb.ts';
import { formatLocalTime } from '../time/format.ts';
import { describeQuote } from './quote.ts';

const now = Date.UTC(2030, 0, 7, 4);
const quote = (fields: MessageInitShape<typeof QuoteSchema>) =>
  describeQuote(
    create(QuoteSchema, {
      ...{ accepted: true, units: 2, unitPrice: 5, cost: 10, balanceAfter: 985n, chargedAt: 'submit' },
      ...{ beginsAt: timestampFromMs(now), durationSeconds: 0n, ...fields },
    }),
    now,
  );
const price = '2 units for 10 credits (5 per unit). Balance after: 985.';

describe('describeQuote()', () => {
  test('states the cost and the balance afterwards', () => {
    expect(quote({})).toEqual({ refusals: [], warnings: [], facts: [price] });
  });

  test('lists refusals and warnings', () => {
    const refusals = [{ code: 'insufficient_credits', message: '5 short.' }];
    expect(quote({ accepted: false, refusals, warnings: ['One duplicate.'] })).toMatchObject({
      refusals: ['5 short.'],
      warnings: ['One duplicate.'],
    });
  });

  test('states delays, a later start, and the duration', () => {
    const beginsAt = now + 3_600_000;
    const delays = [{ reason: 'approval', message: 'An operator must approve the job.' }];
    expect(
      quote({
        ...{ delays, beginsAt: timestampFromMs(beginsAt), chargedAt: 'approval' },
        ...{ durationSeconds: 60n, durationIsMinimum: true },
      }).facts,
    ).toEqual([
      price,
      'Charged when an operator approves the job.',
      'An operator must approve the job.',
      `Begins ${formatLocalTime(new Date(beginsAt))}.`,
      expect.stringMatching(/^Takes at least 1\D.* without other jobs\.$/),
    ]);
  });
});
