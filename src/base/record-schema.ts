/** One field of a record, parsed by parseFields(). */
export interface Field {
  /** Path as written, for example "models[].price". */
  path: string;
  /** Member names of the path; "[]" matches every element, "*" every member. */
  steps: readonly string[];
  type: string;
  /** Type as written, for example "number?". */
  said: string;
  /** True if null is a valid value. */
  nullable: boolean;
}

/**
 * Parses a list of fields, written as `path: type` and separated by semicolons. `[]` in a path matches every
 * element and `*` every member. `?` after a type allows null; `any` allows any value, including null. A
 * `timestamp` is text in ISO 8601.
 */
export function parseFields(shape: string): Field[] {
  return shape.split(';').map((line) => {
    const [path, type] = line.split(':').map((part) => part.trim()) as [string, string];
    const steps = path.split(/\.|(?=\[\])/).filter((step) => step !== '');
    return {
      path,
      steps,
      said: type,
      type: type.replace('?', ''),
      nullable: type.endsWith('?') || type === 'any',
    };
  });
}

/** Prefixes every path of a list of fields: prefixFields('data', 'a: string') returns `data.a: string`. */
export function prefixFields(place: string, shape: string): string {
  return parseFields(shape)
    .map(({ path, said }) => `${place}.${path}: ${said}`)
    .join('; ');
}

/**
 * Returns one sentence per field that is missing from a record or has another type. Skips fields below a
 * nullable field that is null.
 */
export function findMismatches(record: unknown, shape: string): string[] {
  const fields = parseFields(shape);
  const nullable = new Set(fields.filter((field) => field.nullable).map(({ path }) => path));
  const misses: string[] = [];
  for (const { path, steps, type, said, nullable: isNullable } of fields) {
    const isPlace = (value: unknown, depth: number) => value !== null || !nullable.has(pathOf(steps, depth));
    eachValue(record, steps, Number.POSITIVE_INFINITY, isPlace, (value) => {
      if (value === null ? isNullable : isOfType(value, type)) return;
      misses.push(`${path} is ${JSON.stringify(value)?.slice(0, 60)}, not ${said}`);
    });
  }
  return misses;
}

/** What a record has for a field: no place for it, a place without a value, or a value (missingShare()). */
export const fillOf = { none: 0, place: 1, value: 2 } as const;

/** A place in records: where paths of fields have the same steps so far. */
interface Place {
  step: string;
  /** Fields that end here, with their positions in the list. */
  ends: (Field & { index: number })[];
  /** True if null is a valid value, below which no field is missing. */
  nullable: boolean;
  next: Place[];
  /** Positions of the fields from here on that have a place also if their path ends before it. */
  required: number[];
}

/**
 * Returns a function that checks a record in one pass: returns true if findMismatches() finds nothing, and
 * writes what it has for each field (fillOf) to `fills`, by the position of the field. `fills` must contain
 * zeros.
 */
export function createRecordCheck(fields: readonly Field[]): (record: unknown, fills: Uint8Array) => boolean {
  const root: Place = { step: '', ends: [], nullable: false, next: [], required: [] };
  for (const [index, field] of fields.entries()) {
    let place = root;
    for (const [depth, step] of field.steps.entries()) {
      let next = place.next.find((known) => known.step === step);
      if (next === undefined) {
        next = { step, ends: [], nullable: false, next: [], required: [] };
        place.next.push(next);
      }
      if (!field.steps.includes('[]', depth)) next.required.push(index);
      place = next;
    }
    place.ends.push({ ...field, index });
    place.nullable ||= field.nullable;
  }
  return (record, fills) => checkPlace(root, record, fills);
}

/** Checks a value at a place and below. `fills` is null for elements that missingShare() does not check. */
function checkPlace(place: Place, value: unknown, fills: Uint8Array | null): boolean {
  let isValid = true;
  for (const { index, type, nullable } of place.ends) {
    const hasType = isOfType(value, type);
    if (!(value === null ? nullable : hasType)) isValid = false;
    if (fills !== null && fills[index] !== fillOf.value)
      fills[index] = hasType && !isNothing(value) ? fillOf.value : fillOf.place;
  }
  for (const next of place.next) {
    const { step } = next;
    if (typeof value !== 'object' || value === null || (step === '[]' && !Array.isArray(value))) {
      if (value !== null || !place.nullable) isValid = false;
      if (fills !== null) for (const index of next.required) fills[index] ||= fillOf.place;
    } else if (step === '[]') {
      const elements = value as readonly unknown[];
      for (let at = 0; at < elements.length; at++)
        if (!checkPlace(next, elements[at], at < elementsSeen ? fills : null)) isValid = false;
    } else if (step === '*') {
      for (const member of Object.values(value)) if (!checkPlace(next, member, fills)) isValid = false;
    } else if (!checkPlace(next, (value as Record<string, unknown>)[step], fills)) isValid = false;
  }
  return isValid;
}

/** Maximum elements of an array that missingShare() checks. Later elements have the same form. */
const elementsSeen = 10;

/**
 * Returns the share of a field's places in a record, from 0 to 1, that have no value or one of another type.
 * Null, an absent member, and an empty string, array, or object count as no value: readers write them for
 * data that a page does not have. Returns null if the record has no place for the field because its array is
 * empty. Checks only the first elements of an array.
 */
export function missingShare(record: unknown, { steps, type }: Field): number | null {
  let places = 0;
  let lacking = 0;
  const isPlace = (_value: unknown, depth: number) => !steps.includes('[]', depth);
  eachValue(record, steps, elementsSeen, isPlace, (value) => {
    places += 1;
    if (isNothing(value) || !isOfType(value, type)) lacking += 1;
  });
  return places === 0 ? null : lacking / places;
}

function isNothing(value: unknown): boolean {
  if (value === null || value === undefined || value === '') return true;
  if (Array.isArray(value)) return value.length === 0;
  return typeof value === 'object' && Object.keys(value).length === 0;
}

function pathOf(steps: readonly string[], depth: number): string {
  return steps.slice(0, depth).join('.').replaceAll('.[]', '[]');
}

/**
 * Calls `visit` with each value at a path, for at most `max` elements per array. If the path ends early, at
 * `value` in `depth`, calls `visit` with undefined if `isPlace` returns true.
 */
function eachValue(
  value: unknown,
  steps: readonly string[],
  max: number,
  isPlace: (value: unknown, depth: number) => boolean,
  visit: (value: unknown) => void,
  depth = 0,
): void {
  const step = steps[depth];
  if (step === undefined) {
    visit(value);
  } else if (typeof value !== 'object' || value === null || (step === '[]' && !Array.isArray(value))) {
    if (isPlace(value, depth)) visit(undefined);
  } else if (Array.isArray(value) && step === '[]') {
    for (let at = 0; at < value.length && at < max; at++) {
      eachValue(value[at], steps, max, isPlace, visit, depth + 1);
    }
  } else if (step === '*') {
    for (const member of Object.values(value)) eachValue(member, steps, max, isPlace, visit, depth + 1);
  } else {
    eachValue((value as Record<string, unknown>)[step], steps, max, isPlace, visit, depth + 1);
  }
}

function isOfType(value: unknown, type: string): boolean {
  switch (type) {
    case 'any':
      return value !== undefined;
    case 'integer':
      return Number.isInteger(value);
    case 'array':
      return Array.isArray(value);
    case 'object':
      return typeof value === 'object' && value !== null && !Array.isArray(value);
    case 'timestamp':
      return typeof value === 'string' && Number.isFinite(Date.parse(value));
    default:
      return typeof value === type;
  }
}
