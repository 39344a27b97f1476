import { isObject } from '../base/json.ts';

/** Type of a field. `any` allows any value, including null; `timestamp` is text in ISO 8601. */
export type RecordFieldType =
  | 'any'
  | 'array'
  | 'boolean'
  | 'integer'
  | 'number'
  | 'object'
  | 'string'
  | 'timestamp';

/** Type of a field as records declare it; `?` allows null. */
export type RecordFieldNotation = RecordFieldType | `${Exclude<RecordFieldType, 'any'>}?`;

/**
 * Listed fields of a record: types by path, for example `{ 'models[].price': 'number?' }`. `[]` in
 * a path matches every element and `*` every member.
 */
export type RecordFields = Readonly<Record<string, RecordFieldNotation>>;

/** Listed field of a record, with its path and type split by compileFields(). */
export interface Field {
  /** Path as declared, for example "models[].price". */
  path: string;
  /** Member names of the path; "[]" matches every element, "*" every member. */
  steps: readonly string[];
  type: RecordFieldType;
  /** Type as declared, for example "number?". */
  notation: RecordFieldNotation;
  /** True if null is a valid value. */
  nullable: boolean;
}

/** Splits the paths and types of listed fields, in the order declared. */
export function compileFields(listed: RecordFields): Field[] {
  return Object.entries(listed).map(([path, notation]) => ({
    path,
    steps: path.split(/\.|(?=\[\])/).filter((step) => step !== ''),
    type: notation.replace('?', '') as RecordFieldType,
    notation,
    nullable: notation.endsWith('?') || notation === 'any',
  }));
}

/** Returns the fields of records that contain the listed fields below a path. */
export function prefixFields(prefix: string, listed: RecordFields): RecordFields {
  return Object.fromEntries(
    Object.entries(listed).map(([path, notation]) => [`${prefix}.${path}`, notation]),
  );
}

/**
 * Returns one sentence per field that is missing from a record or has another type. Skips fields
 * below a nullable field that is null.
 */
export function findMismatches(record: unknown, listed: RecordFields): string[] {
  const fields = compileFields(listed);
  const misses: Mismatch[] = [];
  createRecordCheck(fields).check(record, misses);
  return misses
    .sort(([one], [other]) => one - other)
    .map(([index, value]) => {
      const { path, notation } = fields[index]!;
      return `${path} is ${JSON.stringify(value)?.slice(0, 60)}, not ${notation}`;
    });
}

/** Position of a field in its list, and the value that a record has instead. */
type Mismatch = [index: number, value: unknown];

/**
 * Places that records have for each field of a list, by the position of the field, and those of
 * them that have no value or one of another type. Null, an absent member, and an empty string,
 * array, or object count as no value: readers write them for data that a page does not have. A
 * record has no place for a field whose array is empty. Counts only the first 10 elements of an
 * array.
 */
interface FieldPlaces {
  places: Uint32Array;
  lacking: Uint32Array;
}

/** Checks records by a list of fields. */
export interface RecordCheck {
  /** Places of the record that was checked last. */
  readonly found: FieldPlaces;
  /**
   * Counts the places of a record. Returns true if it has no mismatch, and adds mismatches to
   * `misses`.
   */
  check(record: unknown, misses?: Mismatch[]): boolean;
}

/**
 * Node of the tree of paths: a place in records where paths of fields have the same steps so far.
 */
interface PathNode {
  step: string;
  /** Fields that end here, with their positions in the list. */
  ends: (Field & { index: number })[];
  /** True if null is a valid value, below which no field is missing. */
  nullable: boolean;
  children: PathNode[];
  /** Positions of the fields from here on. */
  below: number[];
  /** Positions of the fields that have a place even if an object on their path is missing. */
  required: number[];
}

/** Creates a check that reads each record once. */
export function createRecordCheck(fields: readonly Field[]): RecordCheck {
  const root = pathTree(fields);
  const found = { places: new Uint32Array(fields.length), lacking: new Uint32Array(fields.length) };
  return {
    found,
    check(record, misses) {
      found.places.fill(0);
      found.lacking.fill(0);
      return checkNode(root, record, found, misses);
    },
  };
}

const newNode = (step: string): PathNode => {
  return {
    step,
    ends: [],
    nullable: false,
    children: [],
    below: [],
    required: [],
  };
};

function pathTree(fields: readonly Field[]): PathNode {
  const root = newNode('');
  for (const [index, field] of fields.entries()) {
    let node = root;
    for (const [depth, step] of field.steps.entries()) {
      node = childOf(node, step);
      node.below.push(index);
      if (!field.steps.includes('[]', depth)) node.required.push(index);
    }
    node.ends.push({ ...field, index });
    node.nullable ||= field.nullable;
  }
  return root;
}

/** Returns the child of a node by its step; adds it if there is none. */
function childOf(node: PathNode, step: string): PathNode {
  const existing = node.children.find((child) => child.step === step);
  if (existing !== undefined) return existing;
  const child = newNode(step);
  node.children.push(child);
  return child;
}

/** Maximum elements of an array whose places are counted. Later elements have the same form. */
const elementsSeen = 10;

/** Checks a value at a node and below. `found` is null for a value whose places are not counted. */
function checkNode(
  node: PathNode,
  value: unknown,
  found: FieldPlaces | null,
  misses: Mismatch[] | undefined,
): boolean {
  let isValid = checkEnds(node, value, found, misses);
  for (const child of node.children)
    if (!checkChild(node, child, value, found, misses)) isValid = false;
  return isValid;
}

/** Checks a value by the fields that end at its node. */
function checkEnds(
  { ends }: PathNode,
  value: unknown,
  found: FieldPlaces | null,
  misses: Mismatch[] | undefined,
): boolean {
  let isValid = true;
  for (const { index, type, nullable } of ends) {
    const hasType = isOfType(value, type);
    const isAllowed = value === null ? nullable : hasType;
    if (!isAllowed) {
      isValid = false;
      misses?.push([index, value]);
    }
    if (found !== null) countPlace(found, index, !hasType || isNothing(value));
  }
  return isValid;
}

/** Checks the members or elements of a value against a child of its schema node. */
function checkChild(
  node: PathNode,
  child: PathNode,
  value: unknown,
  found: FieldPlaces | null,
  misses: Mismatch[] | undefined,
): boolean {
  if (typeof value !== 'object' || value === null)
    return checkAbsent(node, child, value, found, misses);
  switch (child.step) {
    case '[]':
      if (!Array.isArray(value)) return checkAbsent(node, child, value, found, misses);
      return checkElements(child, value, found, misses);
    case '*':
      return checkMembers(child, value, found, misses);
    default:
      return checkNode(child, (value as Record<string, unknown>)[child.step], found, misses);
  }
}

/** Records the fields below a value that has no members, or no elements. */
function checkAbsent(
  { nullable }: PathNode,
  { below, required }: PathNode,
  value: unknown,
  found: FieldPlaces | null,
  misses: Mismatch[] | undefined,
): boolean {
  if (found !== null) for (const index of required) countPlace(found, index, true);
  if (value === null && nullable) return true;
  misses?.push(...below.map((index): Mismatch => [index, undefined]));
  return false;
}

function checkElements(
  node: PathNode,
  elements: readonly unknown[],
  found: FieldPlaces | null,
  misses: Mismatch[] | undefined,
): boolean {
  let isValid = true;
  for (let index = 0; index < elements.length; index += 1) {
    const counted = index < elementsSeen ? found : null;
    if (!checkNode(node, elements[index], counted, misses)) isValid = false;
  }
  return isValid;
}

function checkMembers(
  node: PathNode,
  value: object,
  found: FieldPlaces | null,
  misses: Mismatch[] | undefined,
): boolean {
  let isValid = true;
  for (const member of Object.values(value))
    if (!checkNode(node, member, found, misses)) isValid = false;
  return isValid;
}

function countPlace({ places, lacking }: FieldPlaces, index: number, isLacking: boolean): void {
  places[index]! += 1;
  if (isLacking) lacking[index]! += 1;
}

/**
 * Returns the mean share, from 0 to 1, of each field's places in records that have no value. Null
 * if no record has a place for the field.
 */
export function missingShares(
  { found, check }: RecordCheck,
  records: readonly unknown[],
): (number | null)[] {
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

function isOfType(value: unknown, type: RecordFieldType): boolean {
  switch (type) {
    case 'any':
      return value !== undefined;
    case 'integer':
      return Number.isInteger(value);
    case 'array':
      return Array.isArray(value);
    case 'object':
      return isObject(value);
    case 'timestamp':
      return typeof value === 'string' && Number.isFinite(Date.parse(value));
    default:
      return typeof value === type;
  }
}
