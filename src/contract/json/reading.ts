import type { Problem } from '../fault.ts';
import { maxProblems } from '../problem-texts.ts';

/** State of reading one request. */
export interface Reading {
  /** Path of the value being read; changed in place, so that no step allocates. */
  readonly path: Problem['loc'];
  readonly problems: Problem[];
  /** Set when an identifier is a JSON number, whose text then matters. */
  numericIdentifiers: boolean;
}

/** Result of a reader for an invalid value, whose problem is recorded. */
export const refused = Symbol('refused');

/** Starts reading at `path`. */
export function startReading(...path: Problem['loc']): Reading {
  return { path, problems: [], numericIdentifiers: false };
}

/** Records a problem of the value being read. */
export function refuse(reading: Reading, problem: Omit<Problem, 'loc'>): typeof refused {
  if (!isFull(reading)) reading.problems.push({ loc: [...reading.path], ...problem });
  return refused;
}

/** Tells whether the maximum number of problems is recorded. */
export function isFull(reading: Reading): boolean {
  return reading.problems.length >= maxProblems;
}
