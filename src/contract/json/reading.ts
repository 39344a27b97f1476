import type { Problem } from '../fault.ts';
import { maxProblems } from '../problem-texts.ts';

/** One walk over a request: where it stands, and the problems found so far. */
export interface Reading {
  /** Place of the value being read; changed in place, so that no step allocates. */
  readonly path: Problem['loc'];
  readonly problems: Problem[];
  /** Set when an identifier came as a number, whose spelling then matters. */
  numericIdentifiers: boolean;
}

/** What a reader makes of a value that it refused; the problem is in the reading. */
export const refused = Symbol('refused');

/** A walk that starts at `path`. */
export function startReading(...path: Problem['loc']): Reading {
  return { path, problems: [], numericIdentifiers: false };
}

/** Records a problem of the value being read. */
export function refuse(reading: Reading, problem: Omit<Problem, 'loc'>): typeof refused {
  if (!isFull(reading)) reading.problems.push({ loc: [...reading.path], ...problem });
  return refused;
}

/** Tells whether further problems would not be listed, so that looking for them is of no use. */
export function isFull(reading: Reading): boolean {
  return reading.problems.length >= maxProblems;
}
