import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { timestampDate, timestampFromMs } from '@bufbuild/protobuf/wkt';
import { describe, expect, test } from 'vitest';
import { QuoteSchema } from '../../gen/gleaner/job/v1/quote_pb.ts';
import { describeQuote } from './quote.ts';

const now = Date.UTC(2030, 0, 7, 4);
const quote = (fields: MessageInitShape<typeof QuoteSchema>) =>
  describeQuote(
    create(QuoteSchema, {
      accepted: true,
      units: 2,
      batches: 1,
      unitPrice: 5,
      cost: 10,
      chargedAt: 'submit',
      balance: 995n,
      balanceAfter: 985n,
      beginsAt: timestampFromMs(now),
      durationSeconds: 0n,
      ...fields,
    }),
    (at) => (at ? timestampDate(at).toISOString() : ''),
  );

describe('describeQuote()', () => {
  test('states the units, the cost, and the balance afterwards', () => {
    expect(quote({}).facts).toEqual([
      ['units', '2 in 1 batch'],
      ['cost', '10 credits (5 per unit), charged at submit'],
      ['balance', '995, 985 afterwards'],
      ['begins', '2030-01-07T04:00:00.000Z'],
      ['takes', 'less than a second without other jobs'],
    ]);
  });

  test('states no balance afterwards that does not suffice', () => {
    expect(quote({ balanceAfter: -5n }).facts).toContainEqual(['balance', '995']);
  });

  test('lists refusals and warnings', () => {
    const refusals = [{ code: 'insufficient_credits', message: '5 short.' }];
    expect(quote({ accepted: false, refusals, warnings: ['One duplicate.'] })).toMatchObject({
      refusals: ['5 short.'],
      warnings: ['One duplicate.'],
    });
  });

  test('states delays with their ends, and the least duration', () => {
    const until = timestampFromMs(now + 3_600_000);
    const delays = [
      { reason: 'approval', message: 'An operator must approve the job.' },
      { reason: 'hours', message: 'Outside of working hours.', until },
    ];
    const { facts } = quote({
      delays,
      needsApproval: true,
      durationSeconds: 90n,
      durationIsMinimum: true,
    });
    expect(facts.slice(3)).toEqual([
      ['delayed', 'An operator must approve the job.'],
      ['delayed', 'Outside of working hours. (until 2030-01-07T05:00:00.000Z)'],
      ['begins', 'after the approval'],
      ['takes', 'at least 1 min 30 s without other jobs'],
    ]);
  });
});
