import { getOption } from '@bufbuild/protobuf';
import { type Quote, QuoteSchema } from '../../../../gen/gleaner/job/v1/quote_pb.ts';
import { form } from '../../../../gen/gleaner/options/v1/options_pb.ts';
import { summarizeProblems } from '../../../contract/fault.ts';
import { readSubmitOptions } from '../../../contract/read-submit-options.ts';
import {
  type JobOptions,
  jobOptionsOf,
  type SubmitOptions,
  submitOptionFields,
} from '../../../contract/submit-options.ts';
import { describeQuote } from '../../../present/quote.ts';
import { exitCodes, UsageError } from '../exit.ts';
import type { Display } from '../print.ts';
import type { CommandSession } from '../session.ts';

/** Values of the flags in `optionFlags`, by local name. */
export type OptionFlags = { readonly [name in keyof JobOptions]?: string };

const flagOf = (name: string) => `--${name.replaceAll('_', '-')}`;

/** Shows the quote of a submit. Stands for the option `validate_only`. */
export const dryRunFlag = [
  '--dry-run',
  'show the cost and the duration without submitting',
] as const;

/**
 * Flags of the options that every submit accepts, one for each field of SubmitOptions but
 * `validate_only`.
 */
export const optionFlags = submitOptionFields
  .filter(({ name }) => name !== 'validate_only')
  .map((field) => {
    const { help } = getOption(field, form);
    return [
      `${flagOf(field.name)} <value>`,
      help[0]!.toLowerCase() + help.slice(1).replace(/\.$/, ''),
    ] as const;
  });

/** Parses the flags. Throws a UsageError that names the invalid ones. */
export function optionsOf(flags: OptionFlags): JobOptions {
  const { options, problems } = readSubmitOptions(
    ({ localName }) => flags[localName as keyof OptionFlags],
    ({ name }) => ['flag', flagOf(name)],
  );
  if (problems.length > 0) throw new UsageError(summarizeProblems(problems));
  return jobOptionsOf(options);
}

/** Returns the names and values of the options that are set, in the order of the contract. */
export function optionPairs(
  options: SubmitOptions | undefined,
): (readonly [name: string, value: string])[] {
  const values: Record<string, unknown> = { ...jobOptionsOf(options) };
  return submitOptionFields
    .filter(({ localName }) => values[localName] !== undefined && values[localName] !== '')
    .map(({ name, localName }) => [name.replaceAll('_', ' '), String(values[localName])]);
}

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
