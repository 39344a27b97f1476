import { create, type DescField, type Message } from '@bufbuild/protobuf';
import {
  type SubmitOptions,
  SubmitOptionsSchema,
} from '../../gen/gleaner/job/v1/submit_options_pb.ts';
import type { Problem } from './fault.ts';
import { assigner } from './json/message-reader.ts';
import { textReader } from './json/text.ts';
import { createReadState, refuse, refused } from './json/values.ts';
import { quote } from './problem-texts.ts';
import { validateMessage } from './problems.ts';
import { submitOptionFields } from './submit-options.ts';

/** Options of a call, and the problems of invalid ones. */
export interface SubmitOptionsResult {
  /** Undefined if no option is set. */
  options: SubmitOptions | undefined;
  problems: Problem[];
}

/**
 * Reader of the text of an option. Control characters are a problem; spaces around a name are
 * removed.
 */
interface OptionReader {
  field: DescField;
  read(text: string, problems: Problem[], loc: Problem['loc']): unknown;
  assign(message: Message, value: unknown): void;
}

const readers = submitOptionFields.map(readerOf);

/**
 * Reads the options of a call. `textOf` returns the text of an option, null or undefined if it is
 * absent; `locationOf` returns the `loc` of its problems.
 */
export function readSubmitOptions(
  textOf: (field: DescField) => string | null | undefined,
  locationOf: (field: DescField) => Problem['loc'],
): SubmitOptionsResult {
  let options: SubmitOptions | undefined;
  const problems: Problem[] = [];
  for (const { field, read, assign } of readers) {
    const text = textOf(field);
    if (text == null) continue;
    options ??= create(SubmitOptionsSchema);
    const value = read(text, problems, locationOf(field));
    if (value !== refused) assign(options, value);
  }
  if (options !== undefined)
    problems.push(...validateMessage(SubmitOptionsSchema, options, locationOf));
  return { options, problems };
}

function readerOf(field: DescField): OptionReader {
  const readText = textReader(field);
  if (readText === undefined || field.fieldKind === 'list')
    throw new Error(`${field} has no text form`);
  const isName = field === SubmitOptionsSchema.field.name;
  return {
    field,
    assign: assigner(field),
    read(text, problems, loc) {
      const state = createReadState(loc);
      const value = /\p{Cc}/u.test(text)
        ? refuse(state, {
            type: 'string_pattern_mismatch',
            msg: `Input should have no control characters, not ${quote(text)}`,
          })
        : readText(isName ? text.trim() : text, state);
      problems.push(...state.problems);
      return value;
    },
  };
}
