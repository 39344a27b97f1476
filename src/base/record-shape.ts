/** One field of a shape. */
export interface Field {
  /** As the shape writes it: "models[].price". */
  path: string;
  /** Names of members; "[]" is every element, "*" every member. */
  steps: readonly string[];
  type: string;
  /** Its type as the shape writes it: "number?". */
  said: string;
  /** Null is a value of the field. */
  nullable: boolean;
}

/** The fields of a shape: `path: type` separated by semicolons (listed-fields.ts). */
export function fieldsOf(shape: string): Field[] {
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

/** A shape with every path below another: `a: string` below "data" is `data.a: string`. */
export function below(place: string, shape: string): string {
  return fieldsOf(shape)
    .map(({ path, said }) => `${place}.${path}: ${said}`)
    .join('; ');
}

/** What a record lacks of its shape: one sentence per field that is missing or of another type. What stands
 *  below a null that the shape allows is not missing. */
export function missesOf(record: unknown, shape: string): string[] {
  const fields = fieldsOf(shape);
  const nullable = new Set(fields.filter((field) => field.nullable).map(({ path }) => path));
  return fields.flatMap((field) => {
    const { path, steps, type } = field;
    const isPlace = (value: unknown, depth: number) => value !== null || !nullable.has(pathOf(steps, depth));
    const misses: string[] = [];
    eachValue(record, steps, Number.POSITIVE_INFINITY, isPlace, (value) => {
      if (value === null ? field.nullable : isOfType(value, type)) return;
      misses.push(`${path} is ${JSON.stringify(value)?.slice(0, 60)}, not ${field.said}`);
    });
    return misses;
  });
}

/** Elements of a list that are looked at: those that follow are like them. */
const elementsSeen = 10;

/**
 * How much of a field a record lacks: the share of its places, from 0 to 1, where there is nothing, or
 * something of another type. Nothing is null, an absent member, and an empty text, list or object, which
 * readers write where a page has no source. Null where the record has no place for it: its list is empty.
 * Of a list only the first elements are looked at.
 */
export function lackOf(record: unknown, { steps, type }: Field): number | null {
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
 * Visits the values at a path, of lists at most so many elements. Where the way ends early, at `value` in
 * `depth`, there is a place with nothing in it if `isPlace` says so.
 */
function eachValue(
  value: unknown,
  steps: readonly string[],
  most: number,
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
    for (let at = 0; at < value.length && at < most; at++) {
      eachValue(value[at], steps, most, isPlace, visit, depth + 1);
    }
  } else if (step === '*') {
    for (const member of Object.values(value)) eachValue(member, steps, most, isPlace, visit, depth + 1);
  } else {
    eachValue((value as Record<string, unknown>)[step], steps, most, isPlace, visit, depth + 1);
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
    default:
      return typeof value === type;
  }
}
