/** What is wrong with a file of units. */
export interface UnitProblem {
  /**
   * Row below the header, counted from 1 without blank rows; 0 is the header. Absent for the whole
   * file.
   */
  row?: number;
  /** Line of the file, counted from 1; absent for the whole file and for a missing column. */
  line?: number | undefined;
  /** Field of a unit. */
  column?: string;
  /** FastAPI's type of the problem: `missing`, `enum`, … */
  type: string;
  message: string;
}

/** A file without units, or with units of another job type. */
export class UnitsError extends Error {
  override name = 'UnitsError';
  readonly problems: readonly UnitProblem[];

  constructor(problems: readonly UnitProblem[]) {
    super(problems.map(({ message }) => message).join('; '));
    this.problems = problems;
  }
}
