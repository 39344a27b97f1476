import type { DescMessage, Message } from '@bufbuild/protobuf';
import { Fault, type Problem } from './fault.ts';
import { messageReader } from './json/message-reader.ts';
import { createReadState, mayHoldLiterals, parseJson, parseJsonLiterals } from './json/values.ts';
import { maxProblems } from './problem-texts.ts';
import { mergeProblems, validateMessage } from './problems.ts';
import { restName } from './rest-form.ts';

/**
 * Reads a request from the JSON text of its REST body, with the same rules as the endpoint.
 * `location` is the place of the text in a larger request. Throws `invalid` with every problem, up
 * to 100.
 */
export function readRequestText(
  schema: DescMessage,
  text: string,
  location: Problem['loc'],
): Message {
  const { message, state } = read(schema, text, location, parseJson);
  if (state.numericIdentifiers && mayHoldLiterals(text))
    return checked(schema, location, read(schema, text, location, parseJsonLiterals));
  return checked(schema, location, { message, state });
}

function read(
  schema: DescMessage,
  text: string,
  location: Problem['loc'],
  parse: (text: string) => unknown,
): { message: unknown; state: ReturnType<typeof createReadState> } {
  const state = createReadState([...location]);
  try {
    return { message: messageReader(schema)(parse(text), state), state };
  } catch (error) {
    // Not JSON, or nested too deeply.
    if (!(error instanceof Fault || error instanceof RangeError)) throw error;
    throw Fault.invalid(location, 'Input should be a JSON object', 'json_invalid');
  }
}

function checked(
  schema: DescMessage,
  location: Problem['loc'],
  { message, state }: ReturnType<typeof read>,
): Message {
  const isMessage = typeof message === 'object';
  const violations = isMessage
    ? validateMessage(schema, message as Message, (field) => [...location, restName(field)])
    : [];
  const problems = mergeProblems(state.problems, violations).slice(0, maxProblems);
  if (problems.length > 0) throw new Fault('invalid', 'The request is not valid.', { problems });
  return message as Message;
}
