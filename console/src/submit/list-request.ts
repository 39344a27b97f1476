import { buildBody, type FieldTexts, validateField } from '../ui/request/body.ts';
import type { FieldShape, ListShape, RequestShape } from '../ui/request/fields.ts';
import { expandRows, formLayout, unitFills } from '../ui/request/form-layout.ts';
import type { ListProblem, ParsedList } from '../ui/request/table.ts';

/** Returns units as lines; those with several fields by the one that identifies them. */
export const linesOf = (
  units: readonly (FieldTexts | string)[],
  name: string | undefined,
): string =>
  units.map((unit) => (typeof unit === 'string' ? unit : (unit[name ?? ''] ?? ''))).join('\n');

/** Returns how the lines of a list are read: its own field first, then the others. */
export function readerOptions(shape: RequestShape, { fields }: ListShape) {
  const own = (formLayout(shape).row ?? []).map(({ name }) => name);
  const otherNames = (fields ?? []).map(({ name }) => name).filter((name) => !own.includes(name));
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
  { lines }: ParsedList,
): ListProblem[] {
  return Object.entries(problems).flatMap(([path, message]) => {
    const [name, at] = path.split('.');
    const line = lines[Number(at)];
    return name === list.name && line !== undefined ? [{ line, message }] : [];
  });
}
