import { create, type DescField, type Message } from '@bufbuild/protobuf';
import { Fault, type Problem } from '../../src/contract/fault.ts';
import {
  assigner,
  fieldReader,
  isMembers,
  membersReader,
  type ReadMembers,
} from '../../src/contract/json/message-reader.ts';
import { textReader } from '../../src/contract/json/text.ts';
import {
  createReadState,
  ignoreField,
  mayHoldLiterals,
  parseJson,
  parseJsonLiterals,
  type ReadState,
  refuse,
  refused,
} from '../../src/contract/json/values.ts';
import { pathPart } from '../../src/contract/path-part.ts';
import { problemText, quote } from '../../src/contract/problem-texts.ts';
import { mergeProblems, problemsOf } from '../../src/contract/problems.ts';
import { ignoredFieldsHeader } from '../../src/contract/response-headers.ts';
import { restName } from '../../src/contract/rest-form.ts';
import { isRequired } from '../../src/contract/rules.ts';
import { submitOptionFields } from '../../src/contract/submit-options.ts';
import { fieldPlaces, type ServedEndpoint } from '../endpoint.ts';
import type { Variable } from '../paths/parse.ts';
import type { FormPart } from './form.ts';
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
   * Problems of the request, structural ones first; the message has the rest of it. Absent or empty
   * if the message is valid.
   */
  problems?: readonly Problem[];
}

/** Creates the request message. */
export type ReadRequest = (parts: RequestParts, variables: readonly Variable[]) => ReadResult;

/**
 * Creates the reader of an endpoint's requests: fields are in the path, in the body, otherwise in
 * the query. Throws an Error for a declaration that cannot be bound. The rules of the contract are
 * checked here only beside structural problems, so that all are listed together; other requests are
 * validated once, by the service.
 */
export function requestReader(endpoint: ServedEndpoint): ReadRequest {
  const { input } = endpoint.method;
  const readPath = pathReader(endpoint);
  const { queryOnly } = endpoint;
  const { bodyFields, queryFields } = fieldPlaces(endpoint);
  const readBody = endpoint.multipart ? undefined : jsonReader(endpoint, bodyFields, queryOnly);
  const readForm = endpoint.multipart ? formReader(bodyFields) : undefined;
  const readQuery = queryReader(
    queryFields,
    [...(endpoint.waits ? ['wait'] : []), ...(endpoint.takesOptions ? optionNames : [])],
    // A submission with a misspelled option, such as a maximum cost, must not be charged.
    { refusesOthers: endpoint.takesOptions, required: endpoint.requiredParameters },
  );

  return (parts, variables) => {
    const readAll = (parse: Parse): { message: Message; state: ReadState } => {
      const message = create(input);
      const state = createReadState([], parts);
      readPath(parts.segments, variables, message, state);
      state.problems.push(...parts.problems);
      readQuery(parts.query, message, state);
      const form = parts.form ?? new Map<string, FormPart[]>();
      readForm?.(form, message, state);
      refuseQueryOnly(queryOnly, (name) => form.has(name), state);
      readBody?.(parts.json ?? '', parse, message, state);
      return { message, state };
    };

    let { message, state } = readAll(parseJson);
    // Only the JSON text distinguishes 1.0 from 1, and reading it is slow: done only if it matters.
    // Stryker disable next-line ConditionalExpression,LogicalOperator,StringLiteral: a second parse
    // that is not needed costs time only
    if (state.numericIdentifiers && mayHoldLiterals(parts.json ?? ''))
      ({ message, state } = readAll(parseJsonLiterals));
    const headers = ignoredHeaders(state.ignored);
    if (state.problems.length === 0) return { message, headers };
    const problems = mergeProblems(state.problems, problemsOf(endpoint.method, message));
    return { message, headers, problems };
  };
}

/** Maximum length of the name of an ignored field in a header, in characters. */
const maxNameLength = 64;
const noHeaders: Readonly<Record<string, string>> = {};

/**
 * Returns the header that names ignored fields, percent-encoded and separated by commas, or none if
 * there are no such fields.
 */
function ignoredHeaders(fields: ReadonlySet<string>): Readonly<Record<string, string>> {
  if (fields.size === 0) return noHeaders;
  const names = Array.from(fields, (name) =>
    pathPart(name.slice(0, maxNameLength)).replaceAll('%5B', '[').replaceAll('%5D', ']'),
  );
  return { [ignoredFieldsHeader]: names.join(', ') };
}

/**
 * Parses the request header `X-Strict`: `true` or `false`. Returns the problem of any other value.
 */
export function readStrict(header: string | undefined): boolean | Problem {
  if (header === undefined || header === 'false') return false;
  if (header === 'true') return true;
  return {
    loc: ['header', 'x-strict'],
    type: 'bool_parsing',
    msg: `Input should be true or false, not ${quote(header)}`,
  };
}

function within(state: ReadState, path: Problem['loc'], read: () => void): void {
  state.path.push(...path);
  read();
  state.path.length = 0;
}

type ReadPath = (
  segments: readonly string[],
  variables: readonly Variable[],
  message: Message,
  state: ReadState,
) => void;

/**
 * Creates the reader of the variables of an endpoint's path. Throws an Error for one that cannot be
 * read.
 */
function pathReader({ method, forms }: ServedEndpoint): ReadPath {
  const readers = new Map(
    forms[0]!.template.variables.map((variable) => {
      const field = method.input.fields.find(({ name }) => name === variable.field);
      const read = field && textReader(field);
      if (field?.fieldKind === 'list' || read === undefined)
        throw new Error(`${method}: ${variable.field} cannot stand in a path`);
      return [variable.field, { name: restName(field!), read, assign: assigner(field!) }];
    }),
  );
  return (segments, variables, message, state) => {
    for (const { field, start, end } of variables) {
      const { name, read, assign } = readers.get(field)!;
      within(state, ['path', name], () => {
        const value = read(segments.slice(start, end ?? undefined).join('/'), state);
        if (value !== refused) assign(message, value);
      });
    }
  };
}

type Parse = (text: string) => unknown;

type ReadBody = (text: string, parse: Parse, message: Message, state: ReadState) => void;

/** Records names that a body has and must not have as problems. */
function refuseQueryOnly(
  names: readonly string[],
  hasName: (name: string) => boolean,
  { problems }: ReadState,
): void {
  for (const name of names)
    if (hasName(name)) problems.push({ loc: ['body', name], ...problemText.queryOnly(name) });
}

/**
 * Creates the reader of a JSON body that has these fields. Undefined if it need not be read: it
 * has no fields, and no names that belong into the query.
 */
function jsonReader(
  endpoint: ServedEndpoint,
  fields: readonly DescField[],
  queryOnly: readonly string[],
): ReadBody | undefined {
  if (fields.length === 0 && queryOnly.length === 0) return undefined;
  const isRequiredBody = fields.some(isRequired);
  const readMembers = fields.length === 0 ? ignoreMembers : membersReader(fields);
  const readObject = objectReader(readMembers, queryOnly, listHint(fields));
  const readValue = readerOf(endpoint, fields, readObject);
  return (text, parse, message, state) => {
    within(state, ['body'], () => {
      if (text !== '') {
        const value = guardDepth(() => parse(text));
        guardDepth(() => readValue(value, message, state));
      } else if (isRequiredBody) refuse(state, problemText.missing());
      else readMembers({}, message, state);
    });
  };
}

/** Returns the reader of a body that has these fields. */
function readerOf(
  { body }: ServedEndpoint,
  fields: readonly DescField[],
  readObject: ReadValueInto,
): ReadValueInto {
  if (fields.length > 0) return body === '*' ? readObject : valueReader(fields[0]!);
  // Clients send null or an empty array for no fields.
  return (value, message, state) => {
    if (isMembers(value)) readObject(value, message, state);
  };
}

type ReadValueInto = (value: unknown, message: Message, state: ReadState) => void;

const ignoreMembers: ReadMembers = (input, _message, state) => {
  for (const name of Object.keys(input)) ignoreField(state, name);
};

/** Returns what to send in place of a list: an object with the only list that is required. */
function listHint(fields: readonly DescField[]): string {
  const lists = fields.filter((field) => field.fieldKind === 'list' && isRequired(field));
  return lists.length === 1 ? `. Send {"${restName(lists[0]!)}": […]} in place of the list` : '';
}

/** Creates the reader of a body that is an object of fields. */
function objectReader(
  readMembers: ReadMembers,
  queryOnly: readonly string[],
  hintForList: string,
): ReadValueInto {
  return (value, message, state) => {
    if (!isMembers(value)) {
      const hint = Array.isArray(value) ? hintForList : '';
      return void refuse(state, problemText.notObject(hint));
    }
    readMembers(value, message, state);
    // False is what an absent option means.
    refuseQueryOnly(queryOnly, (name) => (value[name] ?? false) !== false, state);
  };
}

/** Creates the reader of a body that is the value of one field. */
function valueReader(field: DescField): ReadValueInto {
  const read = fieldReader(field);
  const assign = assigner(field);
  return (value, message, state) => {
    const result = read(value, state);
    if (result !== refused) assign(message, result);
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
