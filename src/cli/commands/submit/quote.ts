import { type Quote, QuoteSchema } from '../../../../gen/gleaner/job/v1/quote_pb.ts';
import { describeQuote } from '../../../present/quote.ts';
import { exitCodes } from '../exit.ts';
import type { Display } from '../print.ts';
import type { CommandSession } from '../session.ts';

/** Shows a quote. Returns the exit code of a submit that would be refused. */
export async function showQuote(session: CommandSession, quote: Quote): Promise<number> {
  await session.show(QuoteSchema, quote, (display) => quoteText(quote, display));
  if (quote.accepted) return exitCodes.ok;
  const lacksCredits = quote.refusals.some(({ code }) => /credits/.test(code));
  return lacksCredits ? exitCodes.creditsShort : exitCodes.serviceAway;
}

function quoteText(quote: Quote, { pairs, time }: Display): string {
  const { refusals, warnings, facts } = describeQuote(quote, time);
  return pairs([
    ...refusals.map((message) => ['refused', message] as const),
    ...warnings.map((message) => ['warning', message] as const),
    ...facts,
  ]);
}
