import {
  create,
  type DescField,
  type DescMethod,
  getOption,
  isFieldSet,
  type Message,
} from '@bufbuild/protobuf';
import { type SubmitOptions, SubmitOptionsSchema } from '../../gen/gleaner/job/v1/submit_options_pb.ts';
import { job, rest, Step } from '../../gen/gleaner/options/v1/options_pb.ts';

export type { SubmitOptions };

/** Values of SubmitOptions by local name; unset options are absent. */
export type SubmitOptionValues = Partial<Omit<SubmitOptions, keyof Message>>;

/** Options that a job keeps. */
export type JobOptions = Omit<SubmitOptionValues, 'validateOnly'>;

/** Fields of the options, in the order of the contract. */
export const submitOptionFields: readonly DescField[] = SubmitOptionsSchema.fields;

/** Returns the name of an option in the metadata of an RPC: `gleaner-max-credits`. */
export const submitOptionMetadata = ({ name }: DescField) => `gleaner-${name.replaceAll('_', '-')}`;

/** Returns whether a method creates a job and accepts the options. */
export function takesSubmitOptions(method: DescMethod): boolean {
  return getOption(method, job).step === Step.SUBMIT || getOption(method, rest).submits;
}

/** Returns the metadata of an RPC with the options. */
export function writeSubmitOptions(options: SubmitOptionValues | undefined): Record<string, string> {
  if (options === undefined) return {};
  const message = create(SubmitOptionsSchema, options);
  const values = message as unknown as Record<string, unknown>;
  return Object.fromEntries(
    submitOptionFields
      .filter((field) => isFieldSet(message, field))
      .map((field) => [submitOptionMetadata(field), String(values[field.localName])]),
  );
}

/** Returns the options that a job keeps. */
export function jobOptionsOf(options: SubmitOptions | undefined): JobOptions {
  if (options === undefined) return {};
  const values = options as unknown as Record<string, unknown>;
  const set = submitOptionFields.filter(
    (field) => field.localName !== 'validateOnly' && isFieldSet(options, field),
  );
  return Object.fromEntries(set.map(({ localName }) => [localName, values[localName]]));
}

/**
 * Returns the options of a retry: those of its call, else those of the job that it retries. A maximum cost concerns one
 * submit only.
 */
export function retryOptionsOf(source: JobOptions, options: SubmitOptions | undefined): JobOptions {
  const { maxCredits: _, ...inherited } = source;
  return { ...inherited, ...jobOptionsOf(options) };
}
