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
  const misses: Mismatch[] = [];
  createRecordCheck(fields).check(record, misses);
  return misses
    .sort(([one], [other]) => one - other)
    .map(([index, value]) => {
      const { path, said } = fields[index]!;
      return `${path} is ${JSON.stringify(value)?.slice(0, 60)}, not ${said}`;
    });
}

/** Position of a field in its list, and the value that a record has instead. */
type Mismatch = [index: number, value: unknown];

/**
 * Places that records have for each field of a list, by the position of the field, and those of them that
 * have no value or one of another type. Null, an absent member, and an empty string, array, or object count
 * as no value: readers write them for data that a page does not have. A record has no place for a field whose
 * array is empty. Counts only the first 10 elements of an array.
 */
interface FieldPlaces {
  places: Uint32Array;
  lacking: Uint32Array;
}

/** Checks records by a list of fields. */
export interface RecordCheck {
  /** Places of the record that was checked last. */
  readonly found: FieldPlaces;
  /** Counts the places of a record. Returns true if it has no mismatch, and adds mismatches to `misses`. */
  check(record: unknown, misses?: Mismatch[]): boolean;
}

/** A place in records: where paths of fields have the same steps so far. */
interface Place {
  step: string;
  /** Fields that end here, with their positions in the list. */
  ends: (Field & { index: number })[];
  /** True if null is a valid value, below which no field is missing. */
  nullable: boolean;
  next: Place[];
  /** Positions of the fields from here on. */
  below: number[];
  /** Those of them that have a place also if their path ends before it. */
  required: number[];
}

/** Creates a check that reads each record once. */
export function createRecordCheck(fields: readonly Field[]): RecordCheck {
  const newPlace = (step: string): Place => {
    return { step, ends: [], nullable: false, next: [], below: [], required: [] };
  };
  const root = newPlace('');
  for (const [index, field] of fields.entries()) {
    let place = root;
    for (const [depth, step] of field.steps.entries()) {
      let next = place.next.find((known) => known.step === step);
      if (next === undefined) {
        next = newPlace(step);
        place.next.push(next);
      }
      next.below.push(index);
      if (!field.steps.includes('[]', depth)) next.required.push(index);
      place = next;
    }
    place.ends.push({ ...field, index });
    place.nullable ||= field.nullable;
  }
  const found = { places: new Uint32Array(fields.length), lacking: new Uint32Array(fields.length) };
  return {
    found,
    check(record, misses) {
      found.places.fill(0);
      found.lacking.fill(0);
      return checkPlace(root, record, found, misses);
    },
  };
}

/** Maximum elements of an array whose places are counted. Later elements have the same form. */
const elementsSeen = 10;

/** Checks a value at a place and below. */
function checkPlace(
  place: Place,
  value: unknown,
  found: FieldPlaces | null,
  misses: Mismatch[] | undefined,
): boolean {
  let isValid = true;
  for (const { index, type, nullable } of place.ends) {
    const hasType = isOfType(value, type);
    if (!(value === null ? nullable : hasType)) {
      isValid = false;
      misses?.push([index, value]);
    }
    if (found === null) continue;
    found.places[index]! += 1;
    if (!hasType || isNothing(value)) found.lacking[index]! += 1;
  }
  for (const next of place.next) {
    const { step } = next;
    if (typeof value !== 'object' || value === null || (step === '[]' && !Array.isArray(value))) {
      if (value !== null || !place.nullable) {
        isValid = false;
        misses?.push(...next.below.map((index): Mismatch => [index, undefined]));
      }
      if (found === null) continue;
      for (const index of next.required) {
        found.places[index]! += 1;
        found.lacking[index]! += 1;
      }
    } else if (step === '[]') {
      const elements = value as readonly unknown[];
      for (let at = 0; at < elements.length; at++)
        if (!checkPlace(next, elements[at], at < elementsSeen ? found : null, misses)) isValid = false;
    } else if (step === '*') {
      for (const member of Object.values(value))
        if (!checkPlace(next, member, found, misses)) isValid = false;
    } else if (!checkPlace(next, (value as Record<string, unknown>)[step], found, misses)) isValid = false;
  }
  return isValid;
}

/**
 * Returns the mean share, from 0 to 1, of each field's places in records that have no value. Null if no
 * record has a place for the field.
 */
export function missingShares({ found, check }: RecordCheck, records: readonly unknown[]): (number | null)[] {
  const sums = Array.from(found.places, () => ({ share: 0, records: 0 }));
  for (const record of records) {
    check(record);
    for (const [index, sum] of sums.entries()) {
      const places = found.places[index]!;
      if (places === 0) continue;
      sum.share += found.lacking[index]! / places;
      sum.records += 1;
    }
  }
  return sums.map((sum) => (sum.records === 0 ? null : sum.share / sum.records));
}

function isNothing(value: unknown): boolean {
  if (value === null || value === undefined || value === '') return true;
  if (Array.isArray(value)) return value.length === 0;
  return typeof value === 'object' && Object.keys(value).length === 0;
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
