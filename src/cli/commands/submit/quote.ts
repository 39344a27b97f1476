import { type Quote, QuoteSchema } from '../../../../gen/gleaner/job/v1/quote_pb.ts';
import { exitCodes } from '../exit.ts';
import { count, counted, type Display } from '../print.ts';
import type { Session } from '../session.ts';

/** Shows a quote. Returns the exit code of a submit that would be refused. */
export async function showQuote(session: Session, quote: Quote): Promise<number> {
  await session.show(QuoteSchema, quote, (display) => quoteText(quote, display));
  if (quote.accepted) return exitCodes.ok;
  const lacksCredits = quote.refusals.some(({ code }) => /credits/.test(code));
  return lacksCredits ? exitCodes.creditsShort : exitCodes.serviceAway;
}

function quoteText(quote: Quote, { pairs, time }: Display): string {
  const { units, cost, unitPrice, balance, balanceAfter, durationSeconds } = quote;
  return pairs([
    ...quote.refusals.map(({ message }) => ['refused', message] as const),
    ...quote.warnings.map((message) => ['warning', message] as const),
    ['units', `${count(units)} in ${counted(quote.batches, 'batch', 'batches')}`],
    ['cost', `${counted(cost, 'credit')} (${unitPrice} per unit), charged at ${quote.chargedAt}`],
    ['balance', `${count(balance)}, ${count(balanceAfter)} afterwards`],
    ...quote.delays.map(({ message, until }) => {
      const end = time(until);
      return ['delayed', end === '' ? message : `${message} (until ${end})`] as const;
    }),
    ['begins', time(quote.beginsAt)],
    [
      'takes',
      `${quote.durationIsMinimum ? 'at least' : 'about'} ${counted(Number(durationSeconds), 'second')}`,
    ],
  ]);
}
