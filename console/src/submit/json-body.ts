import type { RequestShape } from '../ui/request/fields.ts';
import { formLayout } from '../ui/request/form-layout.ts';

/**
 * Returns a template of the JSON body with an empty value for each required field, and each field
 * given once.
 */
export function bodyTemplate(shape: RequestShape): string {
  const { fields, list } = shape;
  const { shared, row } = formLayout(shape);
  const empty = (all: RequestShape['fields']) =>
    Object.fromEntries(all.filter(({ required }) => required).map(({ name }) => [name, '']));
  const isOwn = ({ name }: { name: string }) => fields.some((field) => field.name === name);
  const unit = row ? { ...empty(row), ...empty(shared.filter((field) => !isOwn(field))) } : '';
  return JSON.stringify(
    { ...empty(shared.filter(isOwn)), ...(list ? { [list.name]: [unit] } : {}) },
    null,
    2,
  );
}

export function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Returns the number of units in a JSON body; null if the text is not such a body. */
export function countUnits({ list }: RequestShape, text: string): number | null {
  try {
    const body = JSON.parse(text) as Record<string, unknown> | null;
    if (!list) return 1;
    const units = body?.[list.name];
    return Array.isArray(units) ? units.length : null;
  } catch {
    return null;
  }
}
