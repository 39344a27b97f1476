import { csvField } from '../../../src/contract/units/csv-field.ts';
import { buildBody, type FieldTexts, validateField } from '../ui/request/body.ts';
import { type Draft, sharedText } from '../ui/request/draft.ts';
import type { FieldShape, ListShape, RequestShape } from '../ui/request/fields.ts';
import { expandRows, formLayout, unitFills } from '../ui/request/form-layout.ts';
import type { ListProblem, ParsedList } from '../ui/request/table.ts';

/**
 * Returns the units of a draft as lines: the field that identifies each, and the values of the
 * shared fields in which they differ, as the reader expects them.
 */
export function linesOf(shape: RequestShape, list: ListShape, draft: Draft): string {
  const { row } = formLayout(shape);
  const ownNames = (row ?? []).map(({ name }) => name);
  const names = readerOptions(shape, list).order.filter(
    (name) => ownNames.includes(name) || sharedText(name, draft) === null,
  );
  const lineOf = (unit: FieldTexts | string): string => {
    if (typeof unit === 'string') return unit;
    if (names.length === 1) return unit[names[0]!] ?? '';
    return names.map((name) => csvField(unit[name] ?? '')).join(', ');
  };
  return draft.units.map(lineOf).join('\n');
}

/** Returns how the lines of a list are read: its own field first, then the others. */
export function readerOptions(shape: RequestShape, { fields }: ListShape) {
  const own = (formLayout(shape).row ?? []).map(({ name }) => name);
  const names = (fields ?? []).map(({ name }) => name);
  const otherNames = names.filter((name) => !own.includes(name));
  return { fills: unitFills(shape, {}), order: [...own, ...otherNames] };
}

/** Returns the fields that all units share. One that each unit has itself is not required. */
export function sharedFields(shape: RequestShape, units: ParsedList['units']): FieldShape[] {
  const isInAll = (name: string) =>
    units.length > 0 && units.every((unit) => typeof unit !== 'string' && !!unit[name]);
  return formLayout(shape).shared.map((field) => ({
    ...field,
    required: field.required && !isInAll(field.name),
  }));
}

/** Returns the body of a request; null while it is incomplete. */
export function bodyOf(shape: RequestShape, own: FieldTexts, { units }: ParsedList): string | null {
  const isValid = sharedFields(shape, units).every(
    (field) => !validateField(field, own[field.name] ?? ''),
  );
  if (units.length === 0 || !isValid) return null;
  const fills = unitFills(shape, own);
  const filled = units.map((unit) =>
    typeof unit === 'string' ? unit : expandRows(shape, fills, [unit])[0]!,
  );
  return JSON.stringify(buildBody(shape, own, filled));
}

/**
 * Returns the problem of a shared field that belongs to units, from the problems of the last
 * submit.
 */
export const problemOfAll = (problems: Record<string, string>, list: ListShape, name: string) =>
  Object.entries(problems).find(
    ([path]) => path.startsWith(`${list.name}.`) && path.endsWith(`.${name}`),
  )?.[1];

/** Returns the problems of the last submit that belong to lines. */
export function problemsOfLines(
  problems: Record<string, string>,
  list: ListShape,
  parsed: ParsedList,
): ListProblem[] {
  return Object.entries(problems).flatMap(([path, message]) => {
    const line = lineOf(path, list, parsed);
    return line === undefined ? [] : [{ line, message }];
  });
}

/** Names the line of a unit by the path of its field, such as "Line 3". Returns other paths. */
export function locateUnit(path: string, list: ListShape, parsed: ParsedList): string {
  const line = lineOf(path, list, parsed);
  return line === undefined ? path : `Line ${line}`;
}

/** Returns the line of the unit with a field; undefined for a field of the whole request. */
function lineOf(path: string, list: ListShape, { lines }: ParsedList): number | undefined {
  const [name, at] = path.split('.');
  return name === list.name ? lines[Number(at)] : undefined;
}
