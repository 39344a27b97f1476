import { fieldPath, type Problem } from '../fault.ts';
import { maxProblems } from '../problem-texts.ts';

/** State of reading one request. */
export interface Reading {
  /** Path of the value being read; changed in place, so that no step allocates. */
  readonly path: Problem['loc'];
  readonly problems: Problem[];
  /** Unknown fields that were ignored, without indexes and duplicates: `items[].max_page`. */
  readonly ignored: Set<string>;
  /** Unknown fields are problems instead. */
  readonly isStrict: boolean;
  /** Set when an identifier is a JSON number, whose text then matters. */
  numericIdentifiers: boolean;
}

/** Result of a reader for an invalid value, whose problem is recorded. */
export const refused = Symbol('refused');

export function startReading(path: Problem['loc'] = [], { isStrict = false } = {}): Reading {
  return { path, problems: [], ignored: new Set(), isStrict, numericIdentifiers: false };
}

const maxIgnored = 20;

/**
 * Records an unknown field of the value being read: a problem when reading strictly, otherwise an ignored
 * field.
 */
export function ignoreField(reading: Reading, name: string): void {
  reading.path.push(name);
  if (reading.isStrict)
    refuse(reading, { type: 'extra_forbidden', msg: 'Unknown field, not permitted with X-Strict' });
  else if (reading.ignored.size < maxIgnored)
    reading.ignored.add(fieldPath(reading.path).replace(/\[\d+\]/g, '[]'));
  reading.path.pop();
}

/** Records a problem of the value being read. */
export function refuse(reading: Reading, problem: Omit<Problem, 'loc'>): typeof refused {
  if (!isFull(reading)) reading.problems.push({ loc: [...reading.path], ...problem });
  return refused;
}

/** Returns true if the maximum number of problems is recorded. */
export function isFull(reading: Reading): boolean {
  return reading.problems.length >= maxProblems;
}
