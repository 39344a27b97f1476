import { type DescField, type Message, ScalarType } from '@bufbuild/protobuf';
import { assigner, fallbackOf } from '../../src/contract/json/message-reader.ts';
import { type ReadText, textReader } from '../../src/contract/json/text.ts';
import { ignoreField, type ReadState, refuse, refused } from '../../src/contract/json/values.ts';
import { problemText } from '../../src/contract/problem-texts.ts';
import { restName } from '../../src/contract/rest-form.ts';
import { isRequired, rulesOf } from '../../src/contract/rules.ts';
import type { FormPart } from './form.ts';

/** Sets fields of a message from a part of the request, and records problems. */
export type ReadParams<Source> = (source: Source, message: Message, state: ReadState) => void;

/** Options of queryReader(). */
export interface QueryReaderOptions {
  /** Refuses unknown parameters instead of ignoring them. */
  refusesOthers?: boolean;
  /**
   * Proto names of fields whose parameters are required, although the message may lack the fields.
   */
  required?: readonly string[];
}

/**
 * Creates the reader of fields from the query. A parameter that is sent twice where one value is
 * meant is a problem. Parameters other than the fields and `otherNames` are recorded as ignored, or
 * as problems with `refusesOthers`.
 */
export function queryReader(
  fields: readonly DescField[],
  otherNames: readonly string[] = [],
  { refusesOthers = false, required = [] }: QueryReaderOptions = {},
): ReadParams<URLSearchParams> {
  const params = fields
    .filter((field) => textReader(field) !== undefined)
    .map((field) => ({
      name: restName(field),
      set: textSetter(field, 'query', isRequired(field) || required.includes(field.name)),
    }));
  const names = new Set([...params.map(({ name }) => name), ...otherNames]);
  return (query, message, state) => {
    for (const { name, set } of params) set(query.getAll(name), message, state);
    for (const name of otherNames) refuseRepeated(query.getAll(name), ['query', name], state);
    if (refusesOthers) refuseOthers(query.keys(), names, state);
    else ignoreOthers(query.keys(), names, 'query', state);
  };
}

/**
 * Creates the reader of fields from a form: bytes fields from files, others from text parts. A part
 * that is sent twice where one is meant is a problem.
 */
export function formReader(
  fields: readonly DescField[],
): ReadParams<ReadonlyMap<string, FormPart[]>> {
  const params = fields.map((field) => ({
    name: restName(field),
    set:
      field.fieldKind === 'scalar' && field.scalar === ScalarType.BYTES
        ? fileSetter(field)
        : formTextSetter(field),
  }));
  const names = new Set(params.map(({ name }) => name));
  return (form, message, state) => {
    for (const { name, set } of params) set(form.get(name) ?? [], message, state);
    ignoreOthers(form.keys(), names, 'body', state);
  };
}

/** Records a value that is sent more than once as a problem, and returns true if there is one. */
function refuseRepeated(
  values: readonly unknown[],
  path: readonly string[],
  state: ReadState,
): boolean {
  if (values.length < 2) return false;
  state.path.push(...path);
  refuse(state, problemText.repeated(values.length));
  state.path.length = 0;
  return true;
}

/** Records unknown parameters of the query as problems that suggest a known one. */
function refuseOthers(
  names: Iterable<string>,
  declared: ReadonlySet<string>,
  state: ReadState,
): void {
  for (const name of new Set(names)) {
    if (declared.has(name)) continue;
    state.path.push('query', name);
    refuse(state, problemText.unknown('The query parameter', name, [...declared]));
    state.path.length = 0;
  }
}

function ignoreOthers(
  names: Iterable<string>,
  declared: ReadonlySet<string>,
  source: string,
  state: ReadState,
): void {
  state.path.push(source);
  for (const name of new Set(names)) if (!declared.has(name)) ignoreField(state, name);
  state.path.length = 0;
}

type Setter<Value> = (values: readonly Value[], message: Message, state: ReadState) => void;

function textSetter(
  field: DescField,
  source: string,
  required = isRequired(field),
): Setter<string> {
  const read = textReader(field);
  if (read === undefined) throw new Error(`${field} has no text form`);
  const name = restName(field);
  const assign = assigner(field);
  const fallback = fallbackOf(field);
  const isList = field.fieldKind === 'list';
  const readTexts = isList ? listReader(read) : singleReader(field, read, { source, required });
  return (texts, message, state) => {
    if (!isList && refuseRepeated(texts, [source, name], state)) return;
    state.path.push(source, name);
    if (texts.length > 0) {
      const value = readTexts(texts, state);
      if (value !== refused) assign(message, value);
    } else if (required) refuse(state, problemText.missing());
    else fallback?.(message);
    state.path.length = 0;
  };
}

type ReadTexts = (texts: readonly string[], state: ReadState) => unknown;

/** Creates the reader of a list, which is refused if one of its elements is. */
function listReader(read: ReadText): ReadTexts {
  return (texts, state) => {
    const depth = state.path.push(0) - 1;
    const values = texts.map((text, index) => {
      state.path[depth] = index;
      return read(text, state);
    });
    return values.includes(refused) ? refused : values;
  };
}

/** Creates the reader of a field that takes one text, where '' may stand for none. */
function singleReader(
  field: DescField,
  read: ReadText,
  { source, required }: { source: string; required: boolean },
): ReadTexts {
  // A form may send '' for an empty control.
  const choices = source === 'query' ? choicesOf(field) : [];
  const needsCharacter = required && field.scalar === ScalarType.STRING;
  return ([text = ''], state) => {
    if (text !== '') return read(text, state);
    if (choices.length > 0) return refuse(state, problemText.notOneOf(choices, text));
    if (needsCharacter) return refuse(state, problemText.tooShort(1));
    return read(text, state);
  };
}

/** Returns the values of an enumeration that has '' for an absent field, without it. */
function choicesOf(field: DescField): string[] {
  const { type } = rulesOf(field);
  const values = type.case === 'string' ? type.value.in : [];
  return values.includes('') ? values.filter((value) => value !== '') : [];
}

function formTextSetter(field: DescField): Setter<FormPart> {
  const set = textSetter(field, 'body');
  return (parts, message, state) => {
    const texts = parts.flatMap((part) => (part.kind === 'text' ? [part.text] : []));
    if (texts.length === parts.length) return set(texts, message, state);
    state.path.push('body', restName(field));
    refuse(state, {
      type: 'string_type',
      msg: 'Input should be a text field of the form, not a file',
    });
    state.path.length = 0;
  };
}

function fileSetter(field: DescField): Setter<FormPart> {
  const required = isRequired(field);
  const assign = assigner(field);
  return (parts, message, state) => {
    if (refuseRepeated(parts, ['body', restName(field)], state)) return;
    const [part] = parts;
    state.path.push('body', restName(field));
    if (part === undefined) {
      if (required) refuse(state, problemText.missing());
    } else if (part.kind === 'file') assign(message, part.bytes);
    else refuse(state, problemText.wrong('Expected a file: a part of the form with a filename'));
    state.path.length = 0;
  };
}
