import {
  create,
  type DescField,
  type DescMethod,
  getOption,
  isFieldSet,
  type Message,
} from '@bufbuild/protobuf';
import {
  type SubmitOptions,
  SubmitOptionsSchema,
} from '../../gen/gleaner/job/v1/submit_options_pb.ts';
import { job, rest, Step } from '../../gen/gleaner/options/v1/options_pb.ts';
import { pathPart } from './path-part.ts';

export type { SubmitOptions };

/** Values of SubmitOptions by local name; unset options are absent. */
export type SubmitOptionValues = Partial<Omit<SubmitOptions, keyof Message>>;

/** Options that a job keeps. */
export type JobOptions = Omit<SubmitOptionValues, 'validateOnly'>;

/** Fields of the options, in the order of the contract. */
export const submitOptionFields: readonly DescField[] = SubmitOptionsSchema.fields;

/** Options that keep a submission from charging more than its caller allows. */
export const limitOptionNames: readonly string[] = ['max_credits', 'validate_only'];

/** Returns the name of an option in the metadata of an RPC: `gleaner-max-credits`. */
export const submitOptionMetadata = ({ name }: DescField) => `gleaner-${name.replaceAll('_', '-')}`;

/** Returns the options with which a submission is quoted, not created. */
export const quoteOptions = (options: SubmitOptions | undefined): SubmitOptions =>
  create(SubmitOptionsSchema, { ...options, validateOnly: true });

/** Returns true if a method creates a job and accepts the options. */
export function takesSubmitOptions(method: DescMethod): boolean {
  return getOption(method, job).step === Step.SUBMIT || getOption(method, rest).submits;
}

/** Characters of a value that metadata cannot contain, and the sign of percent-encoding. */
const encodedInMetadata = /[^\x20-\x24\x26-\x7e]+/gu;

/** Returns the value of an option as metadata: percent-encoded, except for printable ASCII. */
const encodeMetadata = (value: string) => value.toWellFormed().replace(encodedInMetadata, pathPart);

/**
 * Returns the value of an option in metadata. Sequences that are not percent-encoded UTF-8 stay as
 * they are.
 */
export function decodeMetadata(text: string): string {
  return text.replace(/(?:%[0-9a-f]{2})+/gi, (encoded) => {
    try {
      return decodeURIComponent(encoded);
    } catch {
      return encoded;
    }
  });
}

/** Returns the metadata of an RPC with the options. */
export function writeSubmitOptions(
  options: SubmitOptionValues | undefined,
): Record<string, string> {
  if (options === undefined) return {};
  const message = create(SubmitOptionsSchema, options);
  const values = message as unknown as Record<string, unknown>;
  return Object.fromEntries(
    submitOptionFields
      .filter((field) => isFieldSet(message, field))
      .map((field) => [
        submitOptionMetadata(field),
        encodeMetadata(String(values[field.localName])),
      ]),
  );
}

/** Returns the options that a job keeps, its name without surrounding spaces. */
export function jobOptionsOf(options: SubmitOptions | undefined): JobOptions {
  if (options === undefined) return {};
  const values = options as unknown as Record<string, unknown>;
  const set = submitOptionFields.filter(
    (field) => field.localName !== 'validateOnly' && isFieldSet(options, field),
  );
  const jobOptions: JobOptions = Object.fromEntries(
    set.map(({ localName }) => [localName, values[localName]]),
  );
  if (jobOptions.name !== undefined) jobOptions.name = jobOptions.name.trim();
  return jobOptions;
}

/** Maximum length of a job's name in characters. */
const maxNameLength = 100;

/**
 * Returns a text as the name of a job: shortened and without control characters. Undefined if
 * nothing is left.
 */
export function toJobName(text: string): string | undefined {
  const plain = text.replace(/\p{Cc}+/gu, ' ').trim();
  return Array.from(plain).slice(0, maxNameLength).join('').trim() || undefined;
}

/**
 * Returns the options of a retry: the options of the call, or the retried job's where the call has
 * none. A maximum cost applies to one submission only.
 */
export function retryOptionsOf(source: JobOptions, options: SubmitOptions | undefined): JobOptions {
  const { maxCredits: _, ...inherited } = source;
  return { ...inherited, ...jobOptionsOf(options) };
}
