import { create, type DescField, type Message } from '@bufbuild/protobuf';
import { Fault, type Problem } from '../../src/contract/fault.ts';
import { assigner, fieldReader, isMembers, membersReader } from '../../src/contract/json/message-reader.ts';
import { mayHoldLiterals, parseJson, parseJsonLiterals } from '../../src/contract/json/parse.ts';
import { createReadState, type ReadState, refuse, refused } from '../../src/contract/json/read-state.ts';
import { textReader } from '../../src/contract/json/text.ts';
import { problemText } from '../../src/contract/problem-texts.ts';
import { mergeProblems, problemsOf } from '../../src/contract/problems.ts';
import { restName } from '../../src/contract/rest-form.ts';
import { isRequired } from '../../src/contract/rules.ts';
import { submitOptionFields } from '../../src/contract/submit-options.ts';
import type { ServedEndpoint } from '../endpoint.ts';
import type { Variable } from '../paths/parse.ts';
import type { FormPart } from './form.ts';
import { ignoredHeaders } from './ignored-fields.ts';
import { formReader, queryReader } from './params.ts';

const optionNames = submitOptionFields.map(({ name }) => name);

/** Parts of a request that fields are read from. */
export interface RequestParts {
  /** Path segments, percent-decoded. */
  segments: readonly string[];
  query: URLSearchParams;
  /** Text of a JSON body. Empty: none. */
  json?: string;
  form?: Map<string, FormPart[]>;
  /** Unknown fields are problems. */
  isStrict: boolean;
  /** Problems found in headers. */
  problems: readonly Problem[];
}

/** A request message, and headers of the response that name ignored fields. */
export interface ReadResult {
  message: Message;
  headers: Readonly<Record<string, string>>;
  /**
   * Problems of the request, structural ones first; the message has the rest of it. Absent or empty if the
   * message can be called with.
   */
  problems?: readonly Problem[];
}

/** Creates the request message. */
export type ReadRequest = (parts: RequestParts, variables: readonly Variable[]) => ReadResult;

/**
 * Creates the reader of an endpoint's requests: fields are in the path, in the body, otherwise in the query.
 * Throws an Error for a declaration that cannot be bound. The rules of the contract are checked here only
 * beside structural problems, so that all are listed together; other requests are validated once, by the
 * service.
 */
export function requestReader(endpoint: ServedEndpoint): ReadRequest {
  const { input } = endpoint.method;
  const inPath = new Map(
    endpoint.forms[0]!.template.variables.map((variable) => {
      const field = input.fields.find((known) => known.name === variable.field);
      const read = field && textReader(field);
      if (field?.fieldKind === 'list' || read === undefined)
        throw new Error(`${endpoint.method}: ${variable.field} cannot stand in a path`);
      return [variable.field, { place: ['path', restName(field!)], read, assign: assigner(field!) }];
    }),
  );
  const others = input.fields.filter((field) => !inPath.has(field.name));
  const inBody = others.filter((field) => endpoint.body === '*' || endpoint.body === field.name);
  const readBody = endpoint.multipart ? undefined : jsonReader(endpoint, inBody);
  const readForm = endpoint.multipart ? formReader(inBody) : undefined;
  const readQuery = queryReader(
    others.filter((field) => !inBody.includes(field)),
    [...(endpoint.waits ? ['wait'] : []), ...(endpoint.takesOptions ? optionNames : [])],
    // A misspelled option, such as a maximum cost, must not be charged.
    { refusesOthers: endpoint.takesOptions, required: endpoint.requiredParameters },
  );

  return (parts, variables) => {
    const readAll = (parse: (text: string) => unknown): { message: Message; state: ReadState } => {
      const message = create(input);
      const state = createReadState([], parts);
      for (const variable of variables) {
        const { place, read, assign } = inPath.get(variable.field)!;
        within(state, place, () => {
          const value = read(
            parts.segments.slice(variable.start, variable.end ?? undefined).join('/'),
            state,
          );
          if (value !== refused) assign(message, value);
        });
      }
      state.problems.push(...parts.problems);
      readQuery(parts.query, message, state);
      readForm?.(parts.form ?? new Map(), message, state);
      readBody?.(parts.json ?? '', parse, message, state);
      return { message, state };
    };

    let { message, state } = readAll(parseJson);
    // Only the JSON text distinguishes 1.0 from 1, and reading it is slow: done only if it matters. Stryker
    // disable next-line ConditionalExpression,LogicalOperator,StringLiteral: a second parse that is not
    // needed costs time only
    if (state.numericIdentifiers && mayHoldLiterals(parts.json ?? ''))
      ({ message, state } = readAll(parseJsonLiterals));
    const headers = ignoredHeaders(state.ignored);
    if (state.problems.length === 0) return { message, headers };
    const problems = mergeProblems(state.problems, problemsOf(endpoint.method, message));
    return { message, headers, problems };
  };
}

function within(state: ReadState, path: Problem['loc'], read: () => void): void {
  state.path.push(...path);
  read();
  state.path.length = 0;
}

function jsonReader(endpoint: ServedEndpoint, fields: readonly DescField[]) {
  if (fields.length === 0) return undefined;
  const required = fields.some(isRequired);
  const readMembers = membersReader(fields);
  const readField = endpoint.body === '*' ? undefined : fieldReader(fields[0]!);
  const assign = assigner(fields[0]!);
  return (text: string, parse: (text: string) => unknown, message: Message, state: ReadState): void => {
    within(state, ['body'], () => {
      if (text === '') {
        if (required) refuse(state, problemText.missing());
        else readMembers({}, message, state);
        return;
      }
      const value = guardDepth(() => parse(text));
      if (readField !== undefined) {
        const read = guardDepth(() => readField(value, state));
        if (read !== refused) assign(message, read);
      } else if (isMembers(value)) guardDepth(() => readMembers(value, message, state));
      else refuse(state, { type: 'model_attributes_type', msg: 'Input should be an object' });
    });
  };
}

/** A type that contains itself can be nested deeper than the stack is. */
function guardDepth<Result>(read: () => Result): Result {
  try {
    return read();
  } catch (error) {
    if (error instanceof RangeError)
      throw new Fault('malformed', 'The body is nested too deep', { cause: error });
    throw error;
  }
}
