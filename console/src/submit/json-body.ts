import type { RequestShape } from '../ui/request/fields.ts';
import { formLayout } from '../ui/request/form-layout.ts';

/**
 * Returns a template of the JSON body with an empty value for each required field, and each field
 * given once.
 */
export function bodyTemplate(shape: RequestShape): string {
  const { fields, list } = shape;
  const { shared, row } = formLayout(shape);
  const ownNames = new Set(fields.map(({ name }) => name));
  const body: Record<string, unknown> = {};
  const sharedUnitFields: Record<string, unknown> = {};
  for (const { name, required } of shared) {
    const target = ownNames.has(name) ? body : sharedUnitFields;
    if (required) target[name] = '';
  }
  if (list) {
    const rowFields = (row ?? []).filter(({ required }) => required);
    const unit = Object.fromEntries(rowFields.map(({ name }) => [name, '']));
    body[list.name] = [row ? { ...unit, ...sharedUnitFields } : ''];
  }
  return JSON.stringify(body, null, 2);
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
