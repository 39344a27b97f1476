import type { Timestamp } from '@bufbuild/protobuf/wkt';
import type { Quote } from '../../gen/gleaner/job/v1/quote_pb.ts';
import { counted, formatCount } from './text.ts';
import { formatDuration } from './time.ts';

/** Quote of a job in words. */
export interface QuoteText {
  /** Reasons for which the job would be refused. */
  refusals: readonly string[];
  warnings: readonly string[];
  facts: readonly (readonly [name: string, text: string])[];
}

/** Describes a quote. `time` formats a time, '' without one. */
export function describeQuote(
  quote: Quote,
  time: (at: Timestamp | undefined) => string,
): QuoteText {
  const { units, cost, unitPrice, balance, balanceAfter } = quote;
  return {
    refusals: quote.refusals.map(({ message }) => message),
    warnings: quote.warnings,
    facts: [
      ['units', `${formatCount(units)} in ${counted(quote.batches, 'batch', 'batches')}`],
      [
        'cost',
        `${counted(cost, 'credit')} (${formatCount(unitPrice)} per unit), ` +
          `charged at ${quote.chargedAt}`,
      ],
      ['balance', balanceText(balance, balanceAfter)],
      ...quote.delays.map(({ message, until }) => {
        const end = time(until);
        return ['delayed', end === '' ? message : `${message} (until ${end})`] as const;
      }),
      ['begins', quote.needsApproval ? 'after the approval' : time(quote.beginsAt)],
      ['takes', `${durationText(quote)} without other jobs`],
    ].filter(([, text]) => text !== '') as [string, string][],
  };
}

function durationText({ durationSeconds, durationIsMinimum }: Quote): string {
  const seconds = Number(durationSeconds);
  if (seconds === 0) return durationIsMinimum ? 'a second or more' : 'less than a second';
  return `${durationIsMinimum ? 'at least' : 'about'} ${formatDuration(seconds * 1000)}`;
}

/** Returns the balance, with the one after the job unless that does not suffice. */
const balanceText = (balance: bigint, balanceAfter: bigint): string =>
  balanceAfter < 0n
    ? formatCount(balance)
    : `${formatCount(balance)}, ${formatCount(balanceAfter)} afterwards`;
