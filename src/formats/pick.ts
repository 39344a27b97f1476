import type { Column } from './columns.ts';
import { type ExactJson, type ExactObject, memberAt } from './json-text.ts';

/** Returns the members of a record that some columns hold, in the record's structure. */
export function pickColumns(record: ExactObject, columns: readonly Column[]): ExactObject {
  const picked: Record<string, ExactJson> = {};
  for (const { steps } of columns) {
    const value = memberAt(record, steps);
    if (value === undefined) continue;
    let place = picked;
    for (const step of steps.slice(0, -1)) {
      place[step] ??= {};
      place = place[step] as Record<string, ExactJson>;
    }
    const last = steps.at(-1);
    if (last !== undefined) place[last] = value;
  }
  return picked;
}
