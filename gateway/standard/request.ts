import {
  create,
  type DescField,
  fromJsonString,
  type JsonReadOptions,
  type JsonValue,
  type Message,
  mergeFromJson,
  mergeFromJsonString,
} from '@bufbuild/protobuf';
import { EmptySchema } from '@bufbuild/protobuf/wkt';
import { Fault, type Problem } from '../../src/contract/fault.ts';
import { quote } from '../../src/contract/problem-texts.ts';
import type { ServedEndpoint } from '../endpoint.ts';
import type { Variable } from '../paths/parse.ts';
import type { ReadRequest, RequestParts } from '../request/request-reader.ts';
import { mayHoldBigIntegers, parseExact } from './exact-integers.ts';
import { findParameter, nameOf, nested, type Parameter } from './parameters.ts';

/** Options of requestReader(). */
export interface StandardReadOptions extends Partial<JsonReadOptions> {
  ignoreUnknownFields: boolean;
}

const maxProblems = 100;

/**
 * Creates the reader of an endpoint's requests by the rules of google.api.http: the body, then the path,
 * whose fields take precedence, and the query for every other leaf field. Throws an Error for a path variable
 * that cannot be bound.
 */
export function requestReader(endpoint: ServedEndpoint, options: StandardReadOptions): ReadRequest {
  const { method, body } = endpoint;
  const { input } = method;
  const inPath = new Map(
    endpoint.forms[0]!.template.variables.map(({ field }) => {
      const parameter = findParameter(input, field);
      if (typeof parameter === 'string')
        throw new Error(`${method}: ${field} cannot stand in a path: ${parameter}`);
      if (parameter.leaf.fieldKind === 'list')
        throw new Error(`${method}: ${field} cannot stand in a path: it is repeated`);
      return [field, parameter];
    }),
  );
  const bodyField = input.fields.find(({ name }) => name === body);
  const inPathNames = new Set(Array.from(inPath.values(), nameOf));

  return (parts, variables) => {
    const message = create(input);
    const problems: Problem[] = [];
    const set = (parameter: Parameter, value: () => JsonValue, loc: Problem['loc']) => {
      try {
        mergeFromJson(input, message, nested(parameter, value()), options);
      } catch (error) {
        problems.push({ loc, msg: reasonOf(error), type: 'value_error' });
      }
    };
    if (body !== '') readBody(endpoint, bodyField, parts, message, options);
    const path = pathOf(parts.url ?? '');
    for (const variable of variables) {
      const parameter = inPath.get(variable.field)!;
      set(parameter, () => parameter.read(variableText(variable, parts, path)), ['path', variable.field]);
    }
    const oneofs = new Map<string, string>();
    const given = new Map<string, string>();
    for (const name of new Set(body === '*' ? [] : parts.query.keys())) {
      const loc = ['query', name];
      const parameter = findParameter(input, name);
      if (typeof parameter === 'string') {
        if (!options.ignoreUnknownFields && !isSystemParameter(name))
          problems.push({ loc, msg: parameter, type: 'extra_forbidden' });
        continue;
      }
      const refused = refusal(parameter, bodyField, inPathNames, given, oneofs);
      if (refused !== undefined) {
        problems.push({ loc, msg: refused, type: 'value_error' });
        continue;
      }
      const texts = parts.query.getAll(name);
      set(
        parameter,
        () => {
          if (parameter.leaf.fieldKind === 'list') return texts.map(parameter.read);
          if (texts.length > 1) throw new Error('the field is not repeated, so it takes one value');
          return parameter.read(texts[0]!);
        },
        loc,
      );
    }
    if (problems.length > 0)
      throw new Fault('invalid', summary(problems), { problems: problems.slice(0, maxProblems) });
    return { message, headers: {} };
  };
}

/** Returns the reason why the query may not set a field, or undefined if it may. */
function refusal(
  parameter: Parameter,
  bodyField: DescField | undefined,
  inPath: ReadonlySet<string>,
  given: Map<string, string>,
  oneofs: Map<string, string>,
): string | undefined {
  const name = nameOf(parameter);
  const all = [...parameter.steps, parameter.leaf];
  if (bodyField !== undefined && all[0] === bodyField) return 'the field is in the body';
  if (inPath.has(name)) return 'the field is in the path';
  if (given.has(name)) return 'the field is given by its proto name and its JSON name';
  given.set(name, name);
  for (const [index, { oneof, name: member }] of all.entries()) {
    if (oneof === undefined) continue;
    const key = [...all.slice(0, index).map((step) => step.name), oneof.name].join('.');
    const other = oneofs.get(key);
    if (other !== undefined && other !== member) return `the oneof ${oneof.name} is already set by ${other}`;
    oneofs.set(key, member);
  }
  return undefined;
}

function readBody(
  { method, takesBytes }: ServedEndpoint,
  field: DescField | undefined,
  { json = '', bytes, contentType = '' }: RequestParts,
  message: Message,
  options: StandardReadOptions,
): void {
  if (takesBytes) {
    const content: JsonValue = { contentType, data: (bytes ?? Buffer.alloc(0)).toString('base64') };
    mergeFromJson(
      method.input,
      message,
      field === undefined ? content : { [field.jsonName]: content },
      options,
    );
    return;
  }
  if (json.trim() === '') return;
  try {
    // Parsed on its own first, so that the text of a field cannot end the object around it.
    JSON.parse(json);
  } catch (error) {
    throw new Fault('malformed', `The body is not valid JSON: ${(error as Error).message}`, { cause: error });
  }
  const text = field === undefined ? json : `{${JSON.stringify(field.jsonName)}:${json}}`;
  try {
    // Also refuses members that are given twice.
    if (!mayHoldBigIntegers(text)) mergeFromJsonString(method.input, message, text, options);
    else {
      fromJsonString(EmptySchema, text, { ignoreUnknownFields: true });
      mergeFromJson(method.input, message, parseExact(method.input, text), options);
    }
  } catch (error) {
    if (error instanceof RangeError)
      throw new Fault('malformed', 'The body is nested too deep', { cause: error });
    const msg = reasonOf(error);
    throw new Fault('invalid', msg, {
      problems: [{ loc: ['body'], msg, type: 'value_error' }],
      cause: error,
    });
  }
}

/** Segments of a URL's path as they are written. */
function pathOf(url: string): string[] {
  const start = url.startsWith('/') ? 0 : url.indexOf('/', url.indexOf('//') + 2);
  const query = url.indexOf('?');
  return url.slice(start + 1, query < 0 ? undefined : query).split('/');
}

/** Returns the text of a variable: of one segment decoded, of several with %2F as it is. */
function variableText({ start, end }: Variable, { segments }: RequestParts, written: string[]): string {
  const last = end ?? segments.length;
  if (end !== null && last - start === 1) return segments[start]!;
  return segments
    .slice(start, last)
    .map((segment, index) =>
      segment.includes('/') ? keepSlashes(written[start + index]!, segment) : segment,
    )
    .join('/');
}

/**
 * Returns a decoded segment whose slashes are written as in the URL. The segment may lack the verb of the
 * template.
 */
function keepSlashes(written: string, segment: string): string {
  const slashes = written.match(/%2f/gi) ?? [];
  let index = 0;
  return segment.replaceAll('/', () => slashes[index++] ?? '%2F');
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function summary(problems: readonly Problem[]): string {
  const [{ loc, msg }] = problems as [Problem];
  const more = problems.length - 1;
  return `Invalid ${loc[0]} parameter ${quote(String(loc[1]))}: ${msg}${more > 0 ? `; and ${more} more` : ''}`;
}

/**
 * Query parameters that clients of Google APIs send with any request:
 * https://cloud.google.com/apis/docs/system-parameters.
 */
const names = new Set([
  ...['alt', 'fields', 'prettyPrint', 'key', 'access_token', 'oauth_token', 'quotaUser', 'userProject'],
  ...['callback', 'uploadType', 'upload_protocol'],
]);

/** Returns true if a query parameter that is no field is one of every API. */
function isSystemParameter(name: string): boolean {
  return name.startsWith('$') || names.has(name);
}

/** Returns true if a request wants enums as numbers: `$alt=json;enum-encoding=int`. */
export function wantsEnumNumbers(query: URLSearchParams | undefined): boolean {
  const alt = query?.get('$alt') ?? query?.get('alt');
  return alt?.split(';').includes('enum-encoding=int') ?? false;
}
