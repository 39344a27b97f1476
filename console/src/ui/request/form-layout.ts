import type { FieldTexts } from './body.ts';
import type { FieldShape, RequestShape } from './fields.ts';

/** Maximum rows of the form; longer lists use a CSV file. */
export const maxRows = 50;

/** Fields of a submit form. */
export interface FormLayout {
  /**
   * Fields shown once: those of the request and the required choices of its units, such as the
   * country.
   */
  shared: readonly FieldShape[];
  /** Fields of each row; null if the request has no list of units with fields. */
  row: readonly FieldShape[] | null;
}

/** Arranges the fields of a request so that the form asks for each value once. */
export function formLayout({ fields, list }: RequestShape): FormLayout {
  const unitFields = list?.fields ?? [];
  const isOwn = (name: string) => fields.some((field) => field.name === name);
  const choices = unitFields.filter(
    ({ type, required, name }) => type === 'choice' && required && !isOwn(name),
  );
  // A choice of the request replaces that of each unit, so the form needs only one of them.
  const isOfUnits = ({ type, name }: FieldShape) =>
    type === 'choice' && unitFields.some((field) => field.name === name);
  const shared = [
    ...fields.map((field) => ({
      ...field,
      required: field.required || (isOfUnits(field) && field.defaultText === ''),
    })),
    ...choices,
  ];
  const isShared = ({ name }: FieldShape) => shared.some((field) => field.name === name);
  return { shared, row: list?.fields ? unitFields.filter((field) => !isShared(field)) : null };
}

/**
 * Returns whether the form has one line for each unit: units that are texts or have one field of
 * their own.
 */
export const hasLines = (shape: RequestShape): boolean =>
  shape.list !== null && (formLayout(shape).row?.length ?? 1) === 1;

/**
 * Returns the fields that accompany units read from a file: those of the request, and the choices
 * that a unit of the file lacks, such as the country. A choice is required unless every unit has
 * its own.
 */
export function sharedOfFile(
  shape: RequestShape,
  units: readonly (FieldTexts | string)[],
): readonly FieldShape[] {
  const isInFile = (name: string) =>
    units.every((unit) => typeof unit !== 'string' && !!unit[name]);
  return formLayout(shape).shared.flatMap((field) => {
    const own = shape.fields.find(({ name }) => name === field.name);
    if (own) return [isInFile(field.name) ? own : field];
    const isNeeded = units.length > 0 && !isInFile(field.name);
    return isNeeded ? [field] : [];
  });
}

/**
 * Returns the values of the shared fields that belong to units, by name; '' for those without a
 * value.
 */
export function unitFills(shape: RequestShape, own: FieldTexts): FieldTexts {
  const ofUnits = formLayout(shape).shared.filter(
    ({ name }) => !shape.fields.some((field) => field.name === name),
  );
  return Object.fromEntries(ofUnits.map(({ name }) => [name, own[name] ?? '']));
}

/** Adds the shared values that belong to units to each row. */
export function expandRows(
  { fields }: RequestShape,
  shared: FieldTexts,
  rows: readonly FieldTexts[],
): FieldTexts[] {
  const ofUnits = Object.entries(shared).filter(
    ([name]) => !fields.some((field) => field.name === name),
  );
  return rows.map((row) => ({ ...Object.fromEntries(ofUnits), ...row }));
}

/**
 * Returns whether the form has a field for the path of a problem: "country" or "items.0.country".
 */
export function isFormField({ fields, list }: RequestShape, path: string): boolean {
  const [name, , unitField, ...rest] = path.split('.');
  if (unitField === undefined) return fields.some((field) => field.name === path);
  return (
    rest.length === 0 &&
    name === list?.name &&
    !!list?.fields?.some((field) => field.name === unitField)
  );
}

/**
 * Distributes a pasted text over rows: one row per line, with values separated by tabs, commas or
 * semicolons, starting at the column in which it was pasted. Returns null for a text of a single
 * line.
 */
export function pastedRows(
  text: string,
  columns: readonly string[],
  start: string,
): FieldTexts[] | null {
  const lines = text
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter(Boolean);
  if (lines.length < 2) return null;
  const targets = columns.slice(columns.indexOf(start));
  return lines.map((line) => {
    const values = targets.length === 1 ? [line] : line.split(/[\t,;]/);
    return Object.fromEntries(targets.map((name, index) => [name, (values[index] ?? '').trim()]));
  });
}
