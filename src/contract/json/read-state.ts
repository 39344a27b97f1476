import { fieldPath, type Problem } from '../fault.ts';
import { maxProblems } from '../problem-texts.ts';

/** State of reading one request. */
export interface ReadState {
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

export function createReadState(path: Problem['loc'] = [], { isStrict = false } = {}): ReadState {
  return {
    path,
    problems: [],
    ignored: new Set(),
    isStrict,
    numericIdentifiers: false,
  };
}

const maxIgnored = 20;

/**
 * Records an unknown field of the value being read: a problem when reading strictly, otherwise an
 * ignored field.
 */
export function ignoreField(state: ReadState, name: string): void {
  state.path.push(name);
  if (state.isStrict)
    refuse(state, { type: 'extra_forbidden', msg: 'Unknown field, not permitted with X-Strict' });
  else if (state.ignored.size < maxIgnored)
    state.ignored.add(fieldPath(state.path).replace(/\[\d+\]/g, '[]'));
  state.path.pop();
}

/** Records a problem of the value being read. */
export function refuse(state: ReadState, problem: Omit<Problem, 'loc'>): typeof refused {
  if (!isFull(state)) state.problems.push({ loc: [...state.path], ...problem });
  return refused;
}

/** Returns true if the maximum number of problems is recorded. */
export function isFull(state: ReadState): boolean {
  return state.problems.length >= maxProblems;
}
