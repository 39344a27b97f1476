import type { FieldShape, RequestShape } from './fields.ts';

/** Texts by the name of their field, as a form or a row of a file has them. */
export type Texts = Readonly<Record<string, string>>;

/** A value of a REST body. */
export type Value = string | number | boolean;

/** What is wrong with a field's text; null when nothing is. */
export function problemOf(field: FieldShape, text: string): string | null {
  const value = text.trim();
  if (value === '') return field.required ? 'Must be given.' : null;
  if (field.sort === 'choice' && !field.choices.includes(value)) return `One of ${field.choices.join(', ')}.`;
  if (field.sort === 'flag' && !['true', 'false'].includes(value)) return 'true or false.';
  if (field.sort === 'integer') {
    const number = Number(value);
    if (!/^-?\d+$/.test(value) || !Number.isSafeInteger(number)) return 'A whole number.';
    if (field.least !== null && number < field.least) return `At least ${field.least}.`;
    if (field.most !== null && number > field.most) return `At most ${field.most}.`;
  }
  if (field.pattern && !field.pattern.test(value)) return `Must look like ${field.pattern.source}`;
  if (field.maxLength !== null && value.length > field.maxLength)
    return `At most ${field.maxLength} characters.`;
  return null;
}

/** Values of the fields whose texts are not empty, by name. */
export function valuesOf(fields: readonly FieldShape[], texts: Texts): Record<string, Value> {
  return Object.fromEntries(
    fields.flatMap(({ name, sort }) => {
      const text = (texts[name] ?? '').trim();
      if (text === '' || sort === 'file') return [];
      return [[name, sort === 'integer' ? Number(text) : sort === 'flag' ? text === 'true' : text]];
    }),
  );
}

/** Lines of a text that are not empty. */
export const linesOf = (text: string): string[] =>
  text
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter(Boolean);

/** The JSON body of a request: its own fields, and its units. */
export function bodyOf(
  shape: RequestShape,
  texts: Texts,
  units: readonly (Texts | string)[],
): Record<string, unknown> {
  const own = valuesOf(shape.fields, texts);
  if (!shape.list) return own;
  const { name, fields } = shape.list;
  return {
    ...own,
    [name]: units.map((unit) => (typeof unit === 'string' || !fields ? unit : valuesOf(fields, unit))),
  };
}
