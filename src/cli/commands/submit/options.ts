import { getOption } from '@bufbuild/protobuf';
import { form } from '../../../../gen/gleaner/options/v1/options_pb.ts';
import { summarizeProblems } from '../../../contract/fault.ts';
import { readSubmitOptions } from '../../../contract/read-submit-options.ts';
import { type JobOptions, jobOptionsOf, submitOptionFields } from '../../../contract/submit-options.ts';
import { UsageError } from '../exit.ts';

/** Values of the flags in `optionFlags`, by local name. */
export type OptionFlags = { readonly [name in keyof JobOptions]?: string };

const flagOf = (name: string) => `--${name.replaceAll('_', '-')}`;

/** Shows the quote of a submit. Stands for the option `validate_only`. */
export const dryRunFlag = ['--dry-run', 'show the cost and the duration without submitting'] as const;

/**
 * Flags of the options that every submit accepts, one for each field of SubmitOptions but `validate_only`.
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
