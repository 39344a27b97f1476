import { timestampDate } from '@bufbuild/protobuf/wkt';
import type { Quote } from '../../../gen/gleaner/job/v1/quote_pb.ts';
import { formatCount, formatUnits } from '../number/format.ts';
import { formatDuration, formatLocalTime } from '../time/format.ts';

/** Quote of a submit in words. */
export interface QuoteText {
  /** Reasons for which the submit would be refused. */
  refusals: readonly string[];
  warnings: readonly string[];
  facts: readonly string[];
}

/** Describes a quote. `nowMs`: the current time in milliseconds since the epoch. */
export function describeQuote(quote: Quote, nowMs: number): QuoteText {
  const { units, cost, unitPrice, balanceAfter, chargedAt, durationSeconds } = quote;
  const beginsAt = quote.beginsAt && timestampDate(quote.beginsAt);
  const duration = formatDuration(Number(durationSeconds) * 1000);
  return {
    refusals: quote.refusals.map(({ message }) => message),
    warnings: quote.warnings,
    facts: [
      `${formatUnits(units)} for ${formatCount(cost)} credits (${formatCount(unitPrice)} per unit). Balance after: ${formatCount(balanceAfter)}.`,
      ...(chargedAt === 'approval' ? ['Charged when an operator approves the job.'] : []),
      ...quote.delays.map(({ message }) => message),
      ...(beginsAt && beginsAt.getTime() > nowMs + 60_000 ? [`Begins ${formatLocalTime(beginsAt)}.`] : []),
      ...(durationSeconds === 0n
        ? []
        : [`Takes ${quote.durationIsMinimum ? 'at least' : 'about'} ${duration} without other jobs.`]),
    ],
  };
}
