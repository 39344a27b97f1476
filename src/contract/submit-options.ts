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
import type { Problem } from './fault.ts';
import { assigner } from './json/message-reader.ts';
import { refuse, refused, startReading } from './json/reading.ts';
import { textReader } from './json/text.ts';
import { quote } from './problem-texts.ts';
import { validateMessage } from './problems.ts';

export type { SubmitOptions };

/** Values of SubmitOptions by local name; unset options are absent. */
export type SubmitOptionValues = Partial<Omit<SubmitOptions, keyof Message>>;

/** Options that a job keeps. */
export type JobOptions = Omit<SubmitOptionValues, 'validateOnly'>;

/** Options of a call, and the problems of invalid ones. */
export interface ReadOptions {
  /** Undefined if no option is set. */
  options: SubmitOptions | undefined;
  problems: Problem[];
}

/** Reader of the text of an option. Texts are printable ASCII, so that they can be metadata of an RPC. */
interface OptionReader {
  field: DescField;
  read(text: string, problems: Problem[], loc: Problem['loc']): unknown;
  assign(message: Message, value: unknown): void;
}

/** Fields of the options, in the order of the contract. */
export const submitOptionFields: readonly DescField[] = SubmitOptionsSchema.fields;

/** Returns the name of an option in the metadata of an RPC: `gleaner-max-credits`. */
export const submitOptionMetadata = ({ name }: DescField) => `gleaner-${name.replaceAll('_', '-')}`;

const readers = submitOptionFields.map(readerOf);

/** Returns whether a method creates a job and accepts the options. */
export function takesSubmitOptions(method: DescMethod): boolean {
  return getOption(method, job).step === Step.SUBMIT || getOption(method, rest).submits;
}

/**
 * Reads the options of a call. `textOf` returns the text of an option, null or undefined if it is absent; `place`
 * returns the `loc` of its problems.
 */
export function readSubmitOptions(
  textOf: (field: DescField) => string | null | undefined,
  place: (field: DescField) => Problem['loc'],
): ReadOptions {
  let options: SubmitOptions | undefined;
  const problems: Problem[] = [];
  for (const { field, read, assign } of readers) {
    const text = textOf(field);
    if (text == null) continue;
    options ??= create(SubmitOptionsSchema);
    const value = read(text, problems, place(field));
    if (value !== refused) assign(options, value);
  }
  if (options !== undefined) problems.push(...validateMessage(SubmitOptionsSchema, options, place));
  return { options, problems };
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

function readerOf(field: DescField): OptionReader {
  const readText = textReader(field);
  if (readText === undefined || field.fieldKind === 'list') throw new Error(`${field} has no text form`);
  return {
    field,
    assign: assigner(field),
    read(text, problems, loc) {
      const reading = startReading(loc);
      const value = /^[\x20-\x7e]*$/.test(text)
        ? readText(text, reading)
        : refuse(reading, {
            type: 'string_pattern_mismatch',
            msg: `Input should be printable ASCII characters, not ${quote(text)}`,
          });
      problems.push(...reading.problems);
      return value;
    },
  };
}
