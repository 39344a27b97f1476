import { describePattern, quote } from '../../../../src/contract/problem-texts.ts';
import type { FieldShape, RequestShape } from './fields.ts';

/** Texts of a form or of a CSV row, by field name. */
export type FieldTexts = Readonly<Record<string, string>>;

/** Value of a field in a REST body. */
export type FieldValue = string | number | boolean;

/** Returns what is wrong with the text of a field; null if it is valid. */
export function validateField(field: FieldShape, text: string): string | null {
  const value = text.trim();
  if (value === '') return field.required ? 'Required' : null;
  if (field.type === 'choice' && !field.choices.includes(value))
    return `${quote(value)} is not one of ${field.choices.join(', ')}`;
  if (field.type === 'flag' && !['true', 'false'].includes(value)) return 'Must be true or false';
  const problem = field.type === 'integer' ? validateInteger(field, value) : null;
  if (problem !== null) return problem;
  if (field.pattern && !field.pattern.test(value)) {
    const words = describePattern(field.pattern.source);
    if (words === null) return `Must match ${field.pattern.source}`;
    return `Must be ${words}`;
  }
  if (field.maxLength !== null && value.length > field.maxLength)
    return `Must have at most ${field.maxLength} characters`;
  return null;
}

/** Returns the labels of the fields whose text is not valid. */
export const lackingLabels = (fields: readonly FieldShape[], texts: FieldTexts): string[] =>
  fields
    .filter((field) => validateField(field, texts[field.name] ?? '') !== null)
    .map(({ label }) => label);

function validateInteger({ min, max }: FieldShape, value: string): string | null {
  const number = Number(value);
  if (!/^-?\d+$/.test(value) || !Number.isSafeInteger(number)) return 'Must be a whole number';
  if (min !== null && number < min) return `Must be at least ${min}`;
  if (max !== null && number > max) return `Must be at most ${max}`;
  return null;
}

/** Returns the values of fields with a non-empty text, by name. */
export function parseValues(
  fields: readonly FieldShape[],
  texts: FieldTexts,
): Record<string, FieldValue> {
  return Object.fromEntries(
    fields.flatMap(({ name, type }) => {
      const text = (texts[name] ?? '').trim();
      if (text === '' || type === 'file') return [];
      return [[name, parseValue(type, text)]];
    }),
  );
}

function parseValue(type: FieldShape['type'], text: string): FieldValue {
  if (type === 'integer') return Number(text);
  return type === 'flag' ? text === 'true' : text;
}

/** Returns the JSON body of a request from the texts of its fields and units. */
export function buildBody(
  shape: RequestShape,
  texts: FieldTexts,
  units: readonly (FieldTexts | string)[],
): Record<string, unknown> {
  const own = parseValues(shape.fields, texts);
  if (!shape.list) return own;
  const { name, fields } = shape.list;
  return {
    ...own,
    [name]: units.map((unit) =>
      typeof unit === 'string' || !fields ? unit : parseValues(fields, unit),
    ),
  };
}
